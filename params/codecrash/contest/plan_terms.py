from heapq import heapify, heappop, heappush

def planTerms(courses, needs, slots):
    waiting = {course: 0 for course in courses}
    opens = {course: [] for course in courses}
    for before, after in needs:
        opens[before].append(after)
        waiting[after] += 1
    ready = [course for course in courses if waiting[course] == 0]
    heapify(ready)
    terms = []
    while ready:
        term = [heappop(ready) for _ in range(min(slots, len(ready)))]
        terms.append('+'.join(term))
        for course in term:
            for later in opens[course]:
                waiting[later] -= 1
                if waiting[later] == 0:
                    heappush(ready, later)
    stuck = [course.upper() for course in courses if waiting[course] > 0]
    terms.extend(stuck)
    return terms
