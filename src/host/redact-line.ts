const gone = '[redacted]'

/** Names of what nobody should read in a log, however deep it stands in a line. */
const names =
  '(?:proxy-)?authorization|(?:set-)?cookie|password|passwd|secret|client_?secret|(?:access_?|refresh_?|id_?)?token|api_?key'

const patterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // a string under such a name, with its escaped quotes
  [new RegExp(String.raw`("(?:${names})":)"(?:[^"\\]|\\.)*"`, 'gi'), `$1"${gone}"`],
  // the same in the query of an address, or in a form
  [/([?&](?:access_token|refresh_token|token|code|client_secret|password)=)[^&\s"\\]+/gi, `$1${gone}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${gone}`],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, gone], // a JWT
  [/\bwhsec_[\w+/=-]+/g, gone],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"\\]*:)[^\s/?#@"\\]+@/gi, `$1${gone}@`], // a password in an address
]

/** Makes what leaves secrets out of written lines: tokens, passwords in addresses, and the given values. */
export function makeRedactor(secrets: ReadonlySet<string>): (line: string) => string {
  const redactValues = makeValueRedactor(secrets)
  return (line) => {
    let safe = redactValues(line)
    for (const [pattern, replacement] of patterns) safe = safe.replace(pattern, replacement)
    return safe
  }
}

/** What is shorter would be found in half of all lines. */
const shortestSecret = 8

/** Makes what leaves the given values out of lines of JSON, also those that are added later. */
export function makeValueRedactor(secrets: ReadonlySet<string>): (line: string) => string {
  let count = 0
  let values: readonly string[] = []
  return (line) => {
    if (secrets.size !== count) {
      count = secrets.size
      const long = [...secrets].filter((one) => one.length >= shortestSecret).toSorted((a, b) => b.length - a.length)
      values = long.map((one) => JSON.stringify(one).slice(1, -1))
    }
    let safe = line
    for (const value of values) safe = safe.replaceAll(value, gone)
    return safe
  }
}
