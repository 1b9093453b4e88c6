from collections import defaultdict

def label(*parts, **options):
    joiner = options.get('joiner', '+')
    return f'{len(parts)}:{joiner.join(parts)}'

def skeletonGroups(words, joiner):
    groups = defaultdict(list)
    for word in words:
        skeleton = ''.join((letter for letter in word.lower() if letter not in 'aeiou'))
        groups[skeleton].append(word)
    sizes = {skeleton: len(members) for skeleton, members in groups.items()}
    ordered = sorted(groups, key=lambda skeleton: (-sizes[skeleton], skeleton))
    return [label(*groups[skeleton], joiner=joiner) for skeleton in ordered]
