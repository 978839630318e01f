/** What the palette can find. */
export interface Item {
  /** The heading above it. */
  readonly group: string
  readonly label: string
  /** Other words that find it, such as its method. */
  readonly words?: string
}

export interface ItemGroup<One> {
  readonly group: string
  /** Best first. */
  readonly items: readonly One[]
}

const maxPerGroup = 8

/**
 * Finds the items that match every word of a text, in groups; the group with the best item is first. A word matches what
 * begins with it, contains it, or has its letters close to each other: `gtodo` finds `GET /todo`.
 */
export function findItems<One extends Item>(items: readonly One[], text: string): readonly ItemGroup<One>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = items.flatMap((item) => {
    const score = scoreOf(item, words)
    return score === 0 ? [] : [{ item, score }]
  })
  const groups = [...Map.groupBy(found, ({ item }) => item.group)].map(([group, all]) => {
    const best = all.toSorted((a, b) => b.score - a.score || compareLabels(a.item.label, b.item.label))
    return { group, best: best[0]!.score, items: best.slice(0, maxPerGroup).map(({ item }) => item) }
  })
  return groups.toSorted((a, b) => b.best - a.best)
}

function compareLabels(a: string, b: string): number {
  return a.length - b.length || a.localeCompare(b)
}

function scoreOf({ group, label, words: more = '' }: Item, words: readonly string[]): number {
  const text = `${more} ${label}`.trim().toLowerCase()
  let total = 1
  for (const word of words) {
    const score = scoreWord(text, word)
    if (score === 0 && !group.toLowerCase().startsWith(word)) return 0
    total += score
  }
  return label.toLowerCase() === words.join(' ') ? total + 1 : total
}

function scoreWord(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at === -1) return hasLettersOf(text, word) ? 1 : 0
  const isWordStart = at === 0 || startsWord(text, at) || text.includes(` ${word}`)
  return isWordStart ? 3 : 2
}

/** How many times as long as the word the part with its letters may be. */
const maxSpread = 3
const minLetters = 3

/** Whether a text has the letters of a word in their order, from the start of a word, and close to each other. */
function hasLettersOf(text: string, word: string): boolean {
  if (word.length < minLetters) return false
  for (let start = text.indexOf(word[0]!); start !== -1; start = text.indexOf(word[0]!, start + 1)) {
    if (start > 0 && !startsWord(text, start)) continue
    let end = start
    for (const letter of word.slice(1)) {
      end = text.indexOf(letter, end + 1)
      if (end === -1) return false
    }
    if (end - start < word.length * maxSpread) return true
  }
  return false
}

function startsWord(text: string, at: number): boolean {
  return !/[\p{L}\p{N}]/u.test(text[at - 1]!) || !/[\p{L}\p{N}]/u.test(text[at]!)
}
