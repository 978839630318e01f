/** Words of examples and keyboard rows, which are rare in random text. */
const exampleWords = /change.?me|replace|example|secret|password|passphrase|waypost|qwerty|asdfgh|zxcvbn/i
/** The estimate for 32 random digits, which may contain accidental sequences. */
const minBits = 80

/** The 260 commonest of the 676 pairs of letters, by their first letter: 95% of the pairs in English words, 38% in random text. */
const commonPairs: ReadonlySet<string> = new Set(
  (
    'abcdfgiklmnprstuvwy babeiloru caehiklortuy dadeilorsuy eabcdefgilmnoprstuvwxy faefilortu gaeghilnoruy haeiorstuy ' +
    'iabcdefglmnoprstvz jou keiy ladeilotuy mabeimopuy nacdefgiknostuy oabcdefgiklmnoprstuvwx paehiloprstuy qu ' +
    'rabcdegiklmnoprstuy sacehiklmnopstuwy tacehilortuwy uabcdegilmnprst vaeio waehino xi yems ze'
  )
    .split(' ')
    .flatMap(([first = '', ...others]) => others.map((other) => first + other)),
)

/**
 * Whether a secret is not random: it has too few different characters, or consists of sequences or text. Passphrases
 * count as text, because words do not show whether they were chosen at random.
 */
export function isGuessable(secret: string): boolean {
  return exampleWords.test(secret) || isText(secret) || estimateBits(secret) < minBits
}

/** Whether a secret consists mostly of words, whose letters follow each other like those of English. */
function isText(secret: string): boolean {
  if (/^[\da-f-]*$/i.test(secret)) return false // most pairs of these letters are common
  const words = secret.match(/[A-Z]?[a-z]{3,}|[A-Z]{4,}/g) ?? []
  const pairs = words.flatMap((word) =>
    Array.from(word.slice(1), (letter, at) => (word.charAt(at) + letter).toLowerCase()),
  )
  const common = pairs.filter((pair) => commonPairs.has(pair))
  return words.join('').length >= secret.length * 0.65 && common.length >= pairs.length * 0.85
}

/**
 * Counts the characters that do not continue a sequence, such as `1234` or `aaaa`, or repeat an earlier part of the
 * text.
 */
function estimateBits(secret: string): number {
  const step = (at: number) => secret.charCodeAt(at) - secret.charCodeAt(at - 1)
  let counted = 0
  for (let at = 0; at < secret.length; at++) {
    const isRepeated = secret.indexOf(secret.slice(Math.max(0, at - 3), at + 1)) < at - 3
    const isSequence = step(at) === step(at - 1)
    if (!isRepeated && !isSequence) counted += 1
  }
  return counted * Math.log2(new Set(secret).size)
}
