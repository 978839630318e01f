// For any file contents: nothing throws or takes long, nothing outside the project is shown, and accepted definitions
// can be served.
// For a longer run with another seed: WAYPOST_FUZZ_SECONDS=600 node bin/test.ts THIS_FILE
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { fc, runs } from '../support/property.ts'
import { parse } from 'yaml'
import { makeTypes } from '../../src/build/index.ts'
import { loadDefinition } from '../../src/definition/index.ts'
import { formatAnnotations, formatDiagnostics, readEnvironment, variable } from '../../src/kit/index.ts'
import { compileDefinition } from './compile-definition.ts'
import { typed } from './typed.ts'
import { part, whole } from './whole-project.ts'

const secret = 'kept-outside-4711'
const home = mkdtempSync(path.join(os.tmpdir(), 'waypost-fuzz-'))
const root = path.join(home, 'project')
after(() => rmSync(home, { recursive: true }))

type Files = Readonly<Record<string, string>>

const classes = {
  connections: { http: { config: { type: 'object', required: ['base'], properties: { base: { type: 'string' } } } } },
  actions: { echo: { config: { type: 'object', additionalProperties: false } } },
}

/** The folder has the files, an action, and a link to a file outside that must not be read. */
function writeProject(files: Files): void {
  rmSync(root, { recursive: true, force: true })
  mkdirSync(path.join(root, 'src/todo'), { recursive: true })
  writeFileSync(path.join(home, 'secret.yml'), `${secret}: ${secret}\n`)
  symlinkSync('../secret.yml', path.join(root, 'link.yml'))
  for (const name of ['a', 'todo/collection', 'todo/insert', 'todo/entity', 'todo/update', 'todo/delete'])
    writeFileSync(path.join(root, `src/${name}.ts`), '')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
}

const mostMs = 2000

async function check(files: Files): Promise<void> {
  writeProject(files)
  const before = process.cpuUsage()
  const { definition, diagnostics, files: read } = await loadDefinition(root, { classes })
  const text = formatDiagnostics(diagnostics.slice(0, 100), { colour: true, width: 60 })
  const { user, system } = process.cpuUsage(before)
  assert.ok((user + system) / 1000 < mostMs, `took ${(user + system) / 1000} ms`)
  const told = [text, ...formatAnnotations(diagnostics, 'a'), JSON.stringify([definition, diagnostics])].join('\n')
  assert.ok(!told.includes(secret), 'what stands outside of the project shows')
  assert.ok(read.every((file) => !file.startsWith('..') && !path.isAbsolute(file)))
  for (const { message, hint = '', range, file } of diagnostics) {
    assert.doesNotMatch(message + hint, /undefined|\[object [A-Z]|\{(problem|name|key|owner|file|reason|path|method)\}/)
    assert.ok(range.start.line >= 1 && range.start.column >= 1 && file !== '')
  }
  assert.equal(
    definition === undefined,
    diagnostics.some(({ severity }) => severity === 'error'),
  )
  if (definition === undefined) return
  compileDefinition(definition)
  makeTypes(definition, { tables: {}, clientTypes: {} })
}

const seconds = Number(variable(readEnvironment(), 'WAYPOST_FUZZ_SECONDS') ?? 0)

function assertAlways<Value>(values: fc.Arbitrary<Value>, make: (value: Value) => Files): Promise<void> {
  const property = fc.asyncProperty(values, (value) => check(make(value)))
  const long = { numRuns: 1e9, interruptAfterTimeLimit: seconds * 250, markInterruptAsFailure: false }
  return fc.assert(property, seconds > 0 ? long : { numRuns: runs(100), seed: 20261120 })
}

const template = path.join(import.meta.dirname, '../../templates/todo')
const names = ['collection', 'entity'].map((name) => `resources/routes/todo/${name}.yml`)
const todo: Files = Object.fromEntries(
  ['waypost.yml', 'resources/schema.yml', ...names].map((name) => [
    name,
    readFileSync(path.join(template, name), 'utf8'),
  ]),
)

const word = fc.constantFrom(
  ...'Query Item List Old Todo Message made few named src/a.ts a.yml link.yml ../secret.yml /etc/passwd part.json'.split(
    ' ',
  ),
  ...'waypost.yml#/schema schema:///Item schema:///Todo #/$defs/p # #/ __proto__ constructor toString null true'.split(
    ' ',
  ),
  ...'string integer object array 2026-02-30 1h -1 1e999 ${env.A} ${env. !include :id /a/:id {id} * 99999999999'.split(
    ' ',
  ),
)
const keyword = fc.constantFrom(
  ...'type properties required items prefixItems allOf anyOf oneOf not if then else $ref $defs definitions'.split(' '),
  ...'additionalProperties patternProperties enum const format pattern minimum minLength dependentSchemas'.split(' '),
  ...'dependencies contains minContains propertyNames unevaluatedProperties $schema $id $anchor default'.split(' '),
  ...'routes methods GET path public response action schema event scopes __proto__ constructor'.split(' '),
)
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(word, fc.boolean(), fc.integer(), fc.constant(null), fc.string({ maxLength: 4 })),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(keyword, word), tie('json'), { maxKeys: 4 }),
  ),
}))

interface Change {
  readonly at: number
  readonly kind: 'delete' | 'replace' | 'rename' | 'double' | 'swap'
  readonly key: string
  readonly value: unknown
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('delete', 'replace', 'rename', 'double', 'swap'),
  key: fc.oneof(keyword, word),
  value: json,
})

/** Returns all maps and lists with each of their keys. */
function placesOf(value: unknown): { in: Record<string, unknown>; key: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const within = value as Record<string, unknown>
  return Object.keys(within).flatMap((key) => [{ in: within, key }, ...placesOf(within[key])])
}

function apply(tree: unknown, { at, kind, key, value }: Change): void {
  const places = placesOf(tree)
  const place = places[at % Math.max(1, places.length)]
  if (place === undefined) return
  const other = places[(at * 31 + 7) % places.length]!
  if (kind === 'delete') delete place.in[place.key]
  else if (kind === 'replace') place.in[place.key] = value
  else if (kind === 'swap') [place.in[place.key], other.in[other.key]] = [structuredClone(other.in[other.key]), 1]
  else {
    Object.defineProperty(place.in, key, {
      value: structuredClone(place.in[place.key]),
      enumerable: true,
      configurable: true,
      writable: true,
    })
    if (kind === 'rename') delete place.in[place.key]
  }
}

suite('arbitrary file contents', () => {
  test('text of all that YAML has', async () => {
    const text = fc.array(fc.oneof(typed, keyword, word, fc.constantFrom(': ', '\n', '\n  ', ', ')), { maxLength: 60 })
    await assertAlways(text, (parts) => ({ 'waypost.yml': parts.join('') }))
  })

  test('a sound project with edits in its lines', async () => {
    const edit = fc.record({
      file: fc.constantFrom(...Object.keys(todo), 'waypost.yml'),
      line: fc.nat(40),
      other: fc.nat(40),
      kind: fc.constantFrom('delete', 'double', 'swap', 'indent', 'word', 'value'),
      text: fc.oneof(word, typed),
    })
    await assertAlways(fc.array(edit, { minLength: 1, maxLength: 5 }), (edits) => {
      const files = { ...todo }
      for (const { file, line, other, kind, text } of edits) {
        const lines = files[file]!.split('\n')
        const [at, to] = [line % lines.length, other % lines.length]
        const old = lines[at]!
        if (kind === 'delete') lines.splice(at, 1)
        else if (kind === 'double') lines.splice(to, 0, old)
        else if (kind === 'swap') [lines[at], lines[to]] = [lines[to]!, old]
        else if (kind === 'indent') lines[at] = `  ${old}`
        else if (kind === 'value') lines[at] = old.replace(/: .*/, () => `: ${text}`)
        else lines[at] = old.replace(/[A-Za-z_./-]+/, () => text)
        files[file] = lines.join('\n')
      }
      return files
    })
  })

  test('a project of all that there is, with other values, names and places', async () => {
    const changes = fc.record({
      main: fc.array(change, { minLength: 1, maxLength: 4 }),
      side: fc.array(change, { maxLength: 1 }),
    })
    await assertAlways(changes, ({ main, side }) => {
      const [tree, aside] = [parse(whole), parse(part)]
      for (const one of main) apply(tree, one)
      for (const one of side) apply(aside, one)
      return {
        'waypost.yml': JSON.stringify(tree),
        'part.json': JSON.stringify(aside),
        'a.yml': JSON.stringify(main[0]!.value),
      }
    })
  })

  test('schemas of all keywords', async () => {
    const schemas = fc.dictionary(fc.constantFrom('A', 'B', 'Item', 'Todo'), json, { maxKeys: 4 })
    await assertAlways(schemas, (schema) => ({ 'waypost.yml': JSON.stringify({ schema }), 'part.json': part }))
  })
})
