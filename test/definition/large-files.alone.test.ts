// What is large or deep is answered within two seconds, whatever it is made of.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { loadDefinition } from '../../src/definition/index.ts'
import { formatDiagnostics } from '../../src/kit/index.ts'
import { makeProject } from './project.ts'

const megabyte = 1024 ** 2
const fill = (text: string, length = megabyte): string => text.repeat(Math.floor(length / text.length))
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')
const items = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(', ')
const routesWith = (count: number, method: (index: number) => string): string =>
  `routes:\n${lines(count, (index) => ` /r${index}: { methods: { GET: { public: true, ${method(index)} } } }`)}\n`

/** The code of the first problem; none where the file is only large. */
const cases: Readonly<Record<string, readonly [text: string, code?: string]>> = {
  'open brackets': [fill('['), 'FILE_REFUSED'],
  'open brackets, fewer': [fill('[', 200_000), 'TOO_DEEP'],
  'maps in maps': [fill('{a: ', 300_000), 'TOO_DEEP'],
  'closed brackets': [fill('[', 100_000) + fill(']', 100_000), 'TOO_DEEP'],
  'dashes after dashes': [fill('- '), 'TOO_DEEP'],
  'questions after questions': [fill('? '), 'TOO_DEEP'],
  'deeper and deeper lines': [lines(1400, (index) => `${' '.repeat(index)}a:`), 'TOO_DEEP'],
  'brackets in a text are none': [`schema:\n  A: { description: "${fill('[', 1000)}" }\n`],
  'brackets in a block of text are none': [
    `schema:\n  A:\n    description: |\n      ${fill('[', 1000)}\n      - - -\n`,
  ],
  'brackets in a comment are none': [`# ${fill('{', 1000)}\nschema: {}\n`],
  'one line of text': [`schema: { A: { description: ${fill('x', 900_000)} } }`],
  'a quote that never closes': [`a: "${fill('x', 900_000)}`, 'YAML'],
  'colons on lines': [fill('a: b: c\n'), 'FILE_REFUSED'],
  'empty lines': [fill('\n'), 'FILE_REFUSED'],
  comments: [fill('# x\n', 500_000)],
  'one key for each line': [lines(60_000, (index) => `k${index}: 1`), 'KEY_UNKNOWN'],
  'the same key on each line': [fill('k: 1\n', 400_000), 'KEY_DUPLICATE'],
  'a key of a megabyte': [`"${fill('k', 900_000)}": 1`, 'YAML'],
  tags: [fill('- !x y\n', 600_000), 'FILE_REFUSED'],
  aliases: [`- &a x\n${fill('- *a\n', 400_000)}`, 'VALUE_INVALID'],
  'merge keys': [`a: &a { ${items(2000, (index) => `k${index}: 1`)} }\n${fill('b: {<<: *a}\n', 100_000)}`, 'TOO_LARGE'],
  'required names that look like properties': [
    `schema:\n A: { type: object, properties: { ${items(10_000, (index) => `prop${index}: true`)} }, required: [${items(10_000, (index) => `prup${index}`)}] }\n`,
    'SCHEMA_INVALID',
  ],
  'events that look like others': [
    `event:\n${lines(5000, (index) => ` event${index}: { scopes: [a] }`)}\n${routesWith(5000, (index) => `dispatch: evnt${index}, action: a.ts`)}`,
    'EVENT_UNKNOWN',
  ],
  'names of 400,000 characters that look alike': [
    `event: { ${fill('n', 400_000)}: { scopes: [a] } }\n${routesWith(1, () => `dispatch: ${fill('n', 400_001)}, action: a.ts`)}`,
    'YAML|EVENT_UNKNOWN',
  ],
  'action files that are missing': [routesWith(5000, (index) => `action: src/a${index}.ts`), 'BUILD_ACTION_MISSING'],
  'files that are missing': [
    `schema:\n${lines(10_000, (index) => ` k${index}: !include f${index}.yml`)}`,
    'INCLUDE_MISSING',
  ],
  'unknown types': [`schema:\n${lines(15_000, (index) => ` S${index}: { type: x${index} }`)}`, 'SCHEMA_INVALID'],
  'unknown settings': [`config: { ${items(40_000, (index) => `tokn${index}: 1`)} }`, 'SETTING_INVALID'],
  patterns: [`schema:\n${lines(5000, (index) => ` S${index}: { type: string, pattern: "^(a${index}+)+$" }`)}`],
  'control characters': [`a: ${fill('\u0000', 500_000)}`, 'KEY_UNKNOWN'],
  'separators of lines that are none': [`a: ${fill('\u2028', 300_000)}`, 'KEY_UNKNOWN'],
  'marks above nothing': [`a: ${fill('\u0301', 300_000)}`, 'KEY_UNKNOWN'],
}

async function check(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  using project = makeProject({ 'a.ts': '', ...files })
  const began = process.cpuUsage()
  const { diagnostics } = await loadDefinition(project.root)
  const text = formatDiagnostics(diagnostics, { colour: true, width: 80 })
  const { user, system } = process.cpuUsage(began)
  assert.ok((user + system) / 1000 < 2000, `took ${(user + system) / 1000} ms`)
  assert.ok(diagnostics.length <= 2001)
  const longest = text.split('\n').reduce((one, other) => (other.length > one.length ? other : one))
  assert.ok(longest.length < 1000, `${longest.slice(0, 300)} … ${longest.length}`)
  return diagnostics.map(({ code }) => code)
}

suite('a file of', () => {
  for (const [name, [text, code]] of Object.entries(cases)) {
    test(name, async () => {
      const codes = await check({ 'waypost.yml': text })
      if (code !== undefined)
        assert.match(
          codes.find((one) => one !== 'WP_DEFINITION_EVENT_OPEN') ?? '',
          new RegExp(`^WP_(DEFINITION_)?${code}$`),
        )
    })
  }
})

test('ten thousand included files, each looked at once', async () => {
  const files = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`s/f${index}.yml`, `type: string\n`]))
  using project = makeProject({
    ...files,
    'waypost.yml': `schema:\n${lines(10_000, (index) => ` k${index}: !include s/f${index}.yml`)}\n`,
  })
  const began = process.cpuUsage()
  const { diagnostics, definition } = await loadDefinition(project.root)
  const { user, system } = process.cpuUsage(began)
  assert.deepEqual(diagnostics, [])
  assert.equal(Object.keys(definition!.schemas).length, 10_000)
  assert.ok((user + system) / 1000 < 4000, `took ${(user + system) / 1000} ms`)
})

test('many files of a megabyte are refused together', async () => {
  const large = `A: { description: ${fill('x', 1_000_000)} }\n`
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}.yml`, large]))
  const codes = await check({
    ...files,
    'waypost.yml': `schema:\n${lines(20, (index) => ` k${index}: !include f${index}.yml`)}\n`,
  })
  assert.ok(codes.includes('WP_DEFINITION_FILE_REFUSED'))
})

test('of more problems than anybody reads two thousand are kept, and that there are more is one', async () => {
  using project = makeProject({ 'waypost.yml': lines(3000, (index) => `k${index}: 1`) })
  const { diagnostics, definition } = await loadDefinition(project.root)
  assert.equal(diagnostics.length, 2001)
  assert.equal(diagnostics.at(-1)!.code, 'WP_DEFINITION_TOO_MANY')
  assert.equal(definition, undefined)
})
