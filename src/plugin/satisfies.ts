type Version = readonly [major: number, minor: number, patch: number]

const comparator = /^(\^|~|>=|<=|>|<|=)?v?(\d+|[x*])(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?(?:[-+][\w.+-]*)?$/i

/**
 * Whether a version lies in a range as npm writes it: `^1.2.0`, `~1.2`, `1.x`, `>=1.2 <3`, `1.0.0 || ^2`. What stands
 * behind a `-` or `+` does not count. @returns undefined when the range cannot be read
 */
export function satisfies(version: string, range: string): boolean | undefined {
  const own = parseParts(version.split('.')).version
  const alternatives = range.split('||').map((one) => one.trim().split(/\s+/).filter(Boolean).map(parseComparator))
  if (range.trim() === '' || alternatives.flat().includes(undefined)) return undefined
  return alternatives.some((tests) => tests.every((test) => test!(own)))
}

function parseComparator(text: string): ((version: Version) => boolean) | undefined {
  const [, operator = '=', ...parts] = comparator.exec(text) ?? []
  if (parts.length === 0) return undefined
  const { version: low, given } = parseParts(parts)
  switch (operator) {
    case '>=':
      return (own) => compare(own, low) >= 0
    case '<':
      return (own) => compare(own, low) < 0
    case '>':
      return (own) => compare(own, endOf(low, given)) >= 0
    case '<=':
      return (own) => compare(own, endOf(low, given)) < 0
    case '~':
      return between(low, endOf(low, Math.min(given, 2)))
    case '^':
      return between(low, endOf(low, caretPlaces(low, given)))
    default:
      return between(low, endOf(low, given))
  }
}

/** How many places a caret fixes: up to the first that is not 0. */
function caretPlaces(low: Version, given: number): number {
  const first = low.findIndex((part) => part > 0)
  return Math.min(given, first === -1 ? given : first + 1)
}

/** The first version behind those that begin with so many places of this one. */
function endOf([major, minor, patch]: Version, places: number): Version {
  if (places === 0) return [Infinity, 0, 0]
  if (places === 1) return [major + 1, 0, 0]
  return places === 2 ? [major, minor + 1, 0] : [major, minor, patch + 1]
}

function between(low: Version, end: Version): (version: Version) => boolean {
  return (own) => compare(own, low) >= 0 && compare(own, end) < 0
}

function parseParts(parts: readonly (string | undefined)[]): { version: Version; given: number } {
  const numbers = parts.slice(0, 3).map((part) => parseInt(part ?? '', 10))
  const firstOpen = numbers.findIndex((part) => Number.isNaN(part))
  const given = firstOpen === -1 ? numbers.length : firstOpen
  const place = (index: number) => (index < given ? numbers[index]! : 0)
  return { version: [place(0), place(1), place(2)], given }
}

function compare(one: Version, other: Version): number {
  const place = one.findIndex((part, index) => part !== other[index])
  return place === -1 ? 0 : one[place]! - other[place]!
}
