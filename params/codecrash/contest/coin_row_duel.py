from functools import cache

def coinRowDuel(coins, bonus):

    @cache
    def lead(left, right):
        if left > right:
            return 0
        choices = [coins[left] - lead(left + 1, right)]
        if left < right:
            pair = coins[right] + coins[right - 1]
            choices.append(pair - lead(left, right - 2))
            if coins[left] == coins[right]:
                choices.append(2 * coins[left] + bonus - lead(left + 1, right - 1))
        return max(choices)
    margin = lead(0, len(coins) - 1)
    winner = 'first' if margin > 0 else 'second' if margin < 0 else 'nobody'
    return f'{winner} by {abs(margin)}'
