/** Words without another form in the plural. */
const uncountable: ReadonlySet<string> = new Set(
  'access data equipment feedback help history info information inventory media metadata news series software staff stock'.split(
    ' ',
  ),
)
const irregular: Readonly<Record<string, string>> = {
  child: 'children',
  cookie: 'cookies',
  criterion: 'criteria',
  index: 'indexes',
  man: 'men',
  movie: 'movies',
  person: 'people',
  woman: 'women',
}
const singulars = new Map(Object.entries(irregular).map(([one, many]) => [many, one]))

/** Returns the plural of an English noun in lower case; nouns in the plural stay. */
export function toPlural(word: string): string {
  if (uncountable.has(word) || isPlural(word)) return word
  const known = Object.hasOwn(irregular, word) ? irregular[word] : undefined
  if (known !== undefined) return known
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}

/** Returns the singular of an English noun in lower case; nouns in the singular stay. */
export function toSingular(word: string): string {
  if (uncountable.has(word) || !isPlural(word)) return word
  const known = singulars.get(word)
  if (known !== undefined) return known
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`
  return /(?:ss|us|x|z|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}

function isPlural(word: string): boolean {
  return singulars.has(word) || (word.length > 2 && word.endsWith('s') && !/(?:ss|us|is|as)$/.test(word))
}

/** Puts `a` or `an` before a noun. */
export function withArticle(noun: string): string {
  return /^[aeio]|^u(?!n[ai]|s[aeiu]|ti|r[aeiou])/.test(noun) && !/^(?:eu|one\b)/.test(noun)
    ? `an ${noun}`
    : `a ${noun}`
}
