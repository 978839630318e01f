import { isLong } from '../support/forms.ts'

const megabyte = 1024 ** 2
/** Outside the long form, files that take long to read have a 25th of the lines. */
const scaled = (count: number): number => (isLong ? count : count / 25)
export const fill = (text: string, length = megabyte): string => text.repeat(Math.floor(length / text.length))
export const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')
const items = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(', ')
const routesWith = (count: number, method: (index: number) => string): string =>
  `routes:\n${lines(count, (index) => ` /r${index}: { methods: { GET: { public: true, ${method(index)} } } }`)}\n`

/** Large or deep files, each with its error code; none if the file is only large. */
export const largeFiles: Readonly<Record<string, readonly [text: string, code?: string]>> = {
  'open brackets': [fill('['), 'FILE_REFUSED'],
  'open brackets, fewer': [fill('[', 200_000), 'TOO_DEEP'],
  'maps in maps': [fill('{a: ', 300_000), 'TOO_DEEP'],
  'closed brackets': [fill('[', 100_000) + fill(']', 100_000), 'TOO_DEEP'],
  'dashes after dashes': [fill('- '), 'TOO_DEEP'],
  'questions after questions': [fill('? '), 'TOO_DEEP'],
  'deeper and deeper lines': [lines(1400, (index) => `${' '.repeat(index)}a:`), 'TOO_DEEP'],
  'brackets in a text do not count': [`schema:\n  A: { description: "${fill('[', 1000)}" }\n`],
  'brackets in a block of text do not count': [
    `schema:\n  A:\n    description: |\n      ${fill('[', 1000)}\n      - - -\n`,
  ],
  'brackets in a comment do not count': [`# ${fill('{', 1000)}\nschema: {}\n`],
  'one line of text': [`schema: { A: { description: ${fill('x', 900_000)} } }`],
  'a quote that never closes': [`a: "${fill('x', 900_000)}`, 'YAML'],
  'colons on lines': [fill('a: b: c\n'), 'FILE_REFUSED'],
  'empty lines': [fill('\n'), 'FILE_REFUSED'],
  comments: [fill('# x\n', scaled(500_000))],
  'one key for each line': [lines(scaled(60_000), (index) => `k${index}: 1`), 'KEY_UNKNOWN'],
  'the same key on each line': [fill('k: 1\n', scaled(400_000)), 'KEY_DUPLICATE'],
  'a key of a megabyte': [`"${fill('k', 900_000)}": 1`, 'YAML'],
  tags: [fill('- !x y\n', 600_000), 'FILE_REFUSED'],
  aliases: [`- &a x\n${fill('- *a\n', scaled(400_000))}`, 'VALUE_INVALID'],
  'merge keys': [
    `a: &a { ${items(2000, (index) => `k${index}: 1`)} }\n${fill('b: {<<: *a}\n', scaled(100_000))}`,
    'ALIASES',
  ],
  'required names that look like properties': [
    `schema:\n A: { type: object, properties: { ${items(scaled(10_000), (index) => `prop${index}: true`)} }, required: [${items(scaled(10_000), (index) => `prup${index}`)}] }\n`,
    'SCHEMA_REQUIRED',
  ],
  'events that look like others': [
    `event:\n${lines(scaled(5000), (index) => ` event${index}: { scopes: [a] }`)}\n${routesWith(scaled(5000), (index) => `dispatch: evnt${index}, action: a.ts`)}`,
    'EVENT_UNKNOWN',
  ],
  'names of 400,000 characters that look alike': [
    `event: { ${fill('n', 400_000)}: { scopes: [a] } }\n${routesWith(1, () => `dispatch: ${fill('n', 400_001)}, action: a.ts`)}`,
    'YAML|EVENT_UNKNOWN',
  ],
  'action files that are missing': [
    routesWith(scaled(5000), (index) => `action: src/a${index}.ts`),
    'BUILD_ACTION_MISSING',
  ],
  'files that are missing': [
    `schema:\n${lines(scaled(10_000), (index) => ` k${index}: !include f${index}.yml`)}`,
    'INCLUDE_MISSING',
  ],
  'unknown types': [
    `schema:\n${lines(scaled(15_000), (index) => ` S${index}: { type: x${index} }`)}`,
    'SCHEMA_INVALID',
  ],
  'unknown settings': [`config: { ${items(scaled(40_000), (index) => `tokn${index}: 1`)} }`, 'SETTING_INVALID'],
  patterns: [`schema:\n${lines(scaled(5000), (index) => ` S${index}: { type: string, pattern: "^(a${index}+)+$" }`)}`],
  'control characters': [`a: ${fill('\u0000', 500_000)}`, 'KEY_UNKNOWN'],
  'line separators of Unicode': [`a: ${fill('\u2028', 300_000)}`, 'KEY_UNKNOWN'],
  'combining marks without a base': [`a: ${fill('\u0301', 300_000)}`, 'KEY_UNKNOWN'],
}

/** A definition with this many includes. */
export function manyFiles(count: number): Record<string, string> {
  const files = Array.from({ length: count }, (_, index) => [`s/f${index}.yml`, `type: string\n`])
  const text = `schema:\n${lines(count, (index) => ` k${index}: !include s/f${index}.yml`)}\n`
  return { ...Object.fromEntries(files), 'waypost.yml': text }
}
