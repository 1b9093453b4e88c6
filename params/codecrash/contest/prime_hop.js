function distinctPrimes(number) {
  const primes = [];
  let factor = 2;
  while (factor * factor <= number) {
    if (number % factor === 0) {
      primes.push(factor);
      while (number % factor === 0) {
        number = Math.floor(number / factor);
      }
    }
    factor++;
  }
  if (number > 1) {
    primes.push(number);
  }
  return primes;
}

function primeHop(start, limit) {
  const stops = [start];
  let here = start;
  while (here < limit) {
    const small = distinctPrimes(here);
    const largest = small.pop();
    if (small.length > 0) {
      here += small.reduce((sum, prime) => sum + prime, 0) + 1;
    } else {
      here += largest - 1;
    }
    stops.push(here);
  }
  return stops;
}
