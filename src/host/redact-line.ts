const redacted = '[redacted]'

/** Field names whose values are redacted at any depth of a line. */
const names =
  '(?:proxy-)?authorization|(?:set-)?cookie|password|passwd|secret|client_?secret|(?:access_?|refresh_?|id_?)?token|api_?key'

const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // a string value under such a name, including escaped quotes
  [new RegExp(String.raw`("(?:${names})":)"(?:[^"\\]|\\.)*"`, 'gi'), `$1"${redacted}"`],
  // the same in a query string or a form
  [/([?&](?:access_token|refresh_token|token|code|client_secret|password)=)[^&\s"\\]+/gi, `$1${redacted}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${redacted}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, redacted], // a JWT
  [/\bwhsec_[\w+/=-]+/g, redacted],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"\\]*:)[^\s/?#@"\\]+@/gi, `$1${redacted}@`], // a password in a URL
]

/** Makes a function that redacts secrets in log lines: tokens, passwords in URLs, and the given values. */
export function makeRedactor(secrets: ReadonlySet<string>): (line: string) => string {
  const redactValues = makeValueRedactor(secrets)
  return (line) => {
    let safe = redactValues(line)
    for (const [pattern, replacement] of patterns) safe = safe.replace(pattern, replacement)
    return safe
  }
}

/** Shorter values would match too much unrelated text. */
const minSecretLength = 8

/** Makes a function that redacts the given values in lines of JSON, including values that are added later. */
export function makeValueRedactor(secrets: ReadonlySet<string>): (line: string) => string {
  let count = 0
  let values: readonly string[] = []
  return (line) => {
    if (secrets.size !== count) {
      count = secrets.size
      const long = [...secrets].filter((one) => one.length >= minSecretLength).toSorted((a, b) => b.length - a.length)
      values = long.map((one) => JSON.stringify(one).slice(1, -1))
    }
    let safe = line
    for (const value of values) safe = safe.replaceAll(value, redacted)
    return safe
  }
}
