import { errors } from '../errors.ts'

const maxLength = 64

/**
 * Invisible characters, placeholders, and characters that change how the text around them is read. The emoji variation
 * selector U+FE0F is allowed.
 */
const invisible =
  /(?<!\p{Extended_Pictographic})\uFE0F|[\p{C}\p{Zl}\p{Zp}\u2800\uFFFC\uFFFD\u{1D159}[\p{Zs}--[ ]][\p{DI}--[\uFE0F]]]/v
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u
/** More combining marks on a letter than any language needs. They would cover the lines above and below. */
const stacked = /^\p{M}|\p{M}{4}/u

/** Scripts in modern use (UAX #31, table 5). */
const scripts = (
  'Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew ' +
  'Hiragana Kannada Katakana Khmer Lao Latin Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'
).split(' ')
/** Scripts with letters that look like Latin ones. */
const similarToLatin: ReadonlySet<string> = new Set(['Armenian', 'Cyrillic', 'Greek'])

/** Scripts that may be mixed in one name: "Moderately Restrictive" of UTS #39, without Armenian beside Latin. */
const allowedMixtures = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
  ...scripts.map((script) => (similarToLatin.has(script) ? [script] : ['Latin', script])),
].map(
  (mixture) => new RegExp(`^[${['Common', 'Inherited', ...mixture].map((one) => `\\p{scx=${one}}`).join('')}]*$`, 'u'),
)

/** Latin letters outside the alphabets in use: small capitals, phonetic and obsolete letters, and click letters. */
const unusualLatin =
  /[\p{sc=Latin}--[A-Za-zªº\u00C0-\u024F\u1E00-\u1EFF\uFF21-\uFF5Aɓɔɖɗəɛɣɨɩɲɵʃʈʉʊʋʌʒꞌ]]|[ƄƅƧƨƼ-\u01C3ǷȜȝ]/v
/** Obsolete Cyrillic letters. */
const unusualCyrillic = /[\u0460-\u0481\u1C80-\u1C8F\uA640-\uA69F]/v
/** Letters as symbols, of which Unicode has no plain form. */
const letterSymbol = /[℮\p{RI}\u{1F150}-\u{1F169}\u{1F170}-\u{1F189}]/v
const flags = /\p{RGI_Emoji_Flag_Sequence}/gv
const latinGreekOrCyrillic = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]/v

/**
 * Cyrillic letters that look like Latin ones, and those of them that one alphabet has: Russian, Ukrainian or Kazakh, or
 * Serbian or Macedonian. Words such as "ресурс" are allowed.
 */
const latinCyrillic = /^[АВЕКМНОРСТУХаеорсухІіЇїЈјЅѕҺһԀԁԚԛԜԝҮүҼҽӀӏЬьгп]*$/v
const oneAlphabet = /^(?:[АВЕКМНОРСТУХаеорсухЬьгпІіЇїҺһҮү]*|[АВЕКМНОРСТУХаеорсухгпЈјЅѕ]*)$/v

/** Characters that look like a letter of "waypost" or of a reserved name. `i` and `1` both become `l`. */
const lookalikes: ReadonlyMap<string, string> = new Map(
  '0o 1l il 3e 4a 5s 7t @a $s аa оo рp тt уy үy ѕs ԝw αa γy υy οo ρp τt'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.charAt(1)]),
)

/** Rejects names that could mislead users on the login and consent pages. @throws WP_AUTH_CLIENT_NAME */
export function assertClientName(name: string): void {
  const reason = findProblem(name)
  if (reason !== undefined) throw errors.WP_AUTH_CLIENT_NAME({ reason })
}

function findProblem(name: string): string | undefined {
  if (Array.from(name).length > maxLength) return `it is longer than ${maxLength} characters`
  if (invisible.test(name)) return 'it contains invisible or control characters'
  if (!visible.test(name)) return 'it has no visible character'
  if (stacked.test(name)) return 'it has too many combining marks on one letter'
  const plain = name.normalize('NFKC')
  if (!allowedMixtures.some((mixture) => mixture.test(plain))) return 'it mixes scripts or uses an uncommon script'
  if (looksLikeWaypost(name)) return 'it contains "Waypost", the name of this software'
  const imitation = Array.from(name.normalize('NFC').replaceAll(flags, '')).find(isImitation)
  if (imitation !== undefined) return `it contains "${imitation}", which looks like other letters`
  const letters = plain.replaceAll(/\P{L}/gu, '')
  const isLatinAlike = latinCyrillic.test(letters) && !oneAlphabet.test(letters)
  return isLatinAlike ? 'its Cyrillic letters look like Latin ones' : undefined
}

/** Whether a character is an unusual form of a Latin, Greek or Cyrillic letter. Full-width letters are allowed. */
function isImitation(character: string): boolean {
  if (unusualLatin.test(character) || unusualCyrillic.test(character) || letterSymbol.test(character)) return true
  const plain = character.normalize('NFKC')
  return plain !== character && latinGreekOrCyrillic.test(plain) && !/[\uFF21-\uFF5A™№ªº]/v.test(character)
}

/**
 * Whether a text reads like "Waypost". No table of lookalikes is complete, so any non-ASCII character counts as a match
 * for any letter if at least four of the seven letters are present.
 */
function looksLikeWaypost(text: string): boolean {
  const letters = Array.from(fold(text.normalize('NFKC')))
  const word = Array.from('waypost')
  return letters.some((_, start) => {
    const part = letters.slice(start, start + word.length)
    const same = part.filter((letter, index) => letter === word[index]).length
    return (
      same >= 4 && part.length === word.length && part.every((letter, at) => letter === word[at] || letter > '\x7F')
    )
  })
}

/** Mailbox names of RFC 2142, and names that read as if the user operated the service. */
const reservedNames = new Set(
  [
    'nobody',
    ...(
      'abuse ftp hostmaster info marketing news noc postmaster sales security support usenet uucp webmaster www ' +
      'account accounts admin administration administrator administrators admins anonymous api billing contact daemon ' +
      'help helpdesk login mailerdaemon moderator moderators noreply official operator operators owner root ' +
      'service staff superuser sysadmin system team'
    ).split(' '),
  ].map(fold),
)

/** Whether a user name, or its part before `@` or `+`, reads like Waypost or like the operator of the service. */
export function isReservedName(name: string): boolean {
  if (looksLikeWaypost(name) || reservedNames.has(fold(name))) return true
  const [local = ''] = name.split(/[@+]/, 1)
  const words = local.split(/[^a-z\d]+/i).filter((word) => /[a-z]/i.test(word))
  return reservedNames.has(fold(local)) || (words.length > 0 && words.every((word) => reservedNames.has(fold(word))))
}

function fold(text: string): string {
  const plain = text.toLowerCase().normalize('NFKD')
  const letters = plain.replaceAll(/./gsu, (letter) => lookalikes.get(letter) ?? letter)
  return letters
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('vv', 'w')
    .replaceAll('rn', 'm')
}
