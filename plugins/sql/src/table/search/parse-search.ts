/** Words that a row must have, or must not have. Several are a phrase. */
export interface SearchTerm {
  readonly words: readonly string[]
  /** The last word may continue. */
  readonly isPrefix: boolean
  readonly isExcluded: boolean
}

/** A quoted phrase or a run of other characters, with a minus before it and an asterisk after it. */
const termPattern = /(?<minus>-?)(?:"(?<phrase>[^"]*)(?:"|$)|(?<word>[^\s"]+))(?<star>\*?)/g

/** The indexes of both databases treat these as the end of a word. */
const punctuation = /[\p{Cc}!-/:-@[-`{-~]+/gu

/** Parses what a person types: words, `prefix*`, `"a phrase"`, `-excluded`. Any text has a meaning. */
export function parseSearch(text: string): readonly SearchTerm[] {
  const terms = text
    .toWellFormed()
    .replaceAll(/[“”„‟]/g, '"')
    .matchAll(termPattern)
  return [...terms].flatMap(({ groups }) => {
    const { minus, phrase, word = '', star } = groups!
    const words = listWords(phrase ?? word)
    if (words.length === 0) return []
    return [
      { words, isPrefix: star === '*' || (phrase === undefined && word.endsWith('*')), isExcluded: minus === '-' },
    ]
  })
}

function listWords(text: string): readonly string[] {
  return text
    .replaceAll(punctuation, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word))
}

/** Writes terms for `to_tsquery`. @param letters the weights that words may have; empty for all */
export function writeTsquery(terms: readonly SearchTerm[], letters: string): string {
  const weights = letters.toUpperCase()
  const written = terms.map(({ words, isPrefix, isExcluded }) => {
    const parts = words.map((word, index) => {
      const labels = (isPrefix && index === words.length - 1 ? '*' : '') + weights
      return `'${word}'${labels === '' ? '' : `:${labels}`}`
    })
    return `${isExcluded ? '!' : ''}(${parts.join(' <-> ')})`
  })
  return written.join(' & ')
}

/** Writes terms for FTS5. Terms that are all excluded are written as what no row may have. */
export function writeMatch(terms: readonly SearchTerm[], letters: string): string {
  const write = ({ words, isPrefix }: SearchTerm) => `"${words.join(' ')}"${isPrefix ? ' *' : ''}`
  const wanted = terms.filter(({ isExcluded }) => !isExcluded).map(write)
  const excluded = terms.filter(({ isExcluded }) => isExcluded).map(write)
  const none = excluded.join(' OR ')
  const all = wanted.length === 0 ? none : `(${wanted.join(' AND ')})${none === '' ? '' : ` NOT (${none})`}`
  return letters === '' ? all : `{${letters.split('').join(' ')}} : (${all})`
}
