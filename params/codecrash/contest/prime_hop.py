def distinctPrimes(number):
    primes = []
    factor = 2
    while factor * factor <= number:
        if number % factor == 0:
            primes.append(factor)
            while number % factor == 0:
                number //= factor
        factor += 1
    if number > 1:
        primes.append(number)
    return primes

def primeHop(start, limit):
    stops = [start]
    while (here := stops[-1]) < limit:
        *small, largest = distinctPrimes(here)
        if small:
            stops.append(here + sum(small) + 1)
        else:
            stops.append(here + largest - 1)
    return stops
