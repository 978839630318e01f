/** The part of an Ajv instance with the formats of ajv-formats that is used here. */
interface FormatCompiler {
  readonly formats: Readonly<Record<string, unknown>>
  addFormat(name: string, format: (text: string) => boolean): unknown
  addFormat(name: string, format: { type: 'number'; validate(value: number): boolean }): unknown
}

const time = /^\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
/** Nearly all times that are valid, but for those of February 29 and with an offset. The full check takes ten times as long. */
const usualDateTime =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/
const timeUnits = String.raw`T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)`
const duration = new RegExp(
  String.raw`^P(?:\d+W|${timeUnits}|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:${timeUnits})?)$`,
)
const hostname = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const decimal = /^-?\d+(?:\.\d+)?$/
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const never = /(?!)/
/** What RFC 3986 allows nowhere. */
const notInUri = /[^\x21-\x7e]|["<>\\^`{|}]/

/**
 * Replaces formats of ajv-formats that accept more than their specification: times with a blank or without the minutes of
 * the offset (RFC 3339), durations that leave out a unit (its appendix A), host names with a final dot (RFC 1123), UUIDs
 * with `urn:uuid:`, quotes in URI references (RFC 3986), base64 with other lines beside it, and integers beyond 64 bits. Adds
 * `decimal`, which the registry of OpenAPI's formats has.
 */
export function useExactFormats(compiler: FormatCompiler): void {
  const within = (name: string, isAllowed: (text: string) => boolean, isUsual = never) => {
    const given = compiler.formats[name] as ((text: string) => boolean) | RegExp | { validate(text: string): boolean }
    const check =
      given instanceof RegExp ? (text: string) => given.test(text) : 'validate' in given ? given.validate : given
    compiler.addFormat(name, (text) => isUsual.test(text) || (isAllowed(text) && check(text)))
  }
  within('time', (text) => time.test(text))
  within('date-time', (text) => dateTime.test(text), usualDateTime)
  within('uri', (text) => !notInUri.test(text))
  within('uri-reference', (text) => !notInUri.test(text))
  compiler.addFormat('duration', (text) => duration.test(text))
  compiler.addFormat('hostname', (text) => hostname.test(text))
  compiler.addFormat('uuid', (text) => uuid.test(text))
  compiler.addFormat('decimal', (text) => decimal.test(text))
  compiler.addFormat('byte', (text) => base64.test(text))
  compiler.addFormat('int64', {
    type: 'number',
    validate: (value) => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63,
  })
}
