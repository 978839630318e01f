// Runs the test suite of JSON Schema with the schemas that `validate` accepts.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import type { JsonSchema } from '../../src/contract/index.ts'
import { compileValidator } from '../../src/runtime/compile-schema.ts'
import { loadFiles } from './project.ts'

interface Group {
  readonly description: string
  readonly schema: JsonSchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

/** What differs from the suite, as `file: group`, or `file: group: test` if not all of a group has one reason. */
interface Differences {
  /** Groups that `validate` refuses, by the first message without its names. */
  readonly refused: Readonly<Record<string, readonly string[]>>
  /** Groups whose implied type excludes values that the suite accepts, because it ignores values of other types. */
  readonly impliedType: readonly string[]
  /** Other verdicts, by reason. */
  readonly others: Readonly<Record<string, readonly string[]>>
}

const folder = path.join(import.meta.dirname, '../fixtures/json-schema-suite')
const expected = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'json-schema-suite.json'), 'utf8'),
) as Differences

async function runSuite() {
  const refused: Record<string, string[]> = {}
  const impliedType = new Set<string>()
  const others: string[] = []
  let accepted = 0
  for (const name of globSync('**/*.json', { cwd: folder }).toSorted()) {
    for (const { description, schema, tests } of JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Group[]) {
      const group = `${name}: ${description}`
      const { definition, diagnostics } = await loadFiles({
        'waypost.yml': 'schema:\n  A: !include a.json\n',
        'a.json': JSON.stringify(schema),
      })
      if (definition === undefined) {
        const reason = diagnostics[0]!.message.replaceAll(/"[^"]*"/g, '"…"').replaceAll(/\d+/g, 'N')
        ;(refused[reason] ??= []).push(group)
        continue
      }
      accepted += 1
      const validate = compileValidator(definition.schemas['A']!, definition.schemas, 'data')
      for (const one of tests) {
        const problems = validate(structuredClone(one.data))
        if ((problems === undefined) === one.valid) continue
        const isType =
          one.valid && problems?.every(({ message }) => /^must be (array|number|object|string)$/.test(message))
        if (isType === true) impliedType.add(group)
        else others.push(`${group}: ${one.description}`)
      }
    }
  }
  return { refused, impliedType: [...impliedType], others, accepted }
}

const found = await runSuite()

describe('the test suite of JSON Schema 2020-12', () => {
  test('is accepted for the most part', () => assert.ok(found.accepted >= 250, `${found.accepted} groups`))

  test('has schemas that `validate` refuses, each for a known reason', () => {
    assert.deepEqual(found.refused, expected.refused)
  })

  test('ignores values of other types, which the implied type of a schema excludes', () => {
    assert.deepEqual(found.impliedType, expected.impliedType)
  })

  test('has the same verdicts, but for the listed ones', () => {
    assert.deepEqual(found.others.toSorted(), Object.values(expected.others).flat().toSorted())
  })
})
