import { _, Name } from 'ajv/dist/2020.js'
import buildSerializer, { type Schema } from 'fast-json-stringify'
import type { JsonSchema } from '../contract/index.ts'
import { makeExactKeywords } from '../kit/index.ts'
import {
  exactPrefix,
  hasRecursiveAlternatives,
  mentionsAccess,
  toDraft07,
  toDraft2020,
  withoutAccess,
  withoutAccessIn,
  type NamedSchemas,
} from '../schema/index.ts'
import { compile, excluded, mapNamed, patternOptions } from './compile-schema.ts'
import { mentionsObjectNames } from './object-names.ts'
import { removeUndeclared } from './remove-undeclared.ts'
import { getMaxSteps, StepBudget } from './step-budget.ts'

export type Serializer = (value: unknown) => string

/** Compiles a serializer. A schema that fast-json-stringify does not support is interpreted for each result. */
export function compileSerializer(schema: JsonSchema, named: NamedSchemas): Serializer {
  let slow: ((value: unknown) => string | undefined) | undefined
  const writeSlowly = (value: unknown, error: unknown = new Error('it does not match its schema')): string => {
    slow ??= makeSlowWriter(schema, named)
    const text = slow(value)
    if (text === undefined) throw error
    return text
  }
  if (mentionsAccess([schema, named], 'writeOnly')) return writeSlowly
  let fast: Serializer
  try {
    fast = buildFast(schema, named)
  } catch {
    return writeSlowly
  }
  const isRecursive = hasRecursiveAlternatives(schema, named)
  return (value) => {
    // To choose an alternative, fast-json-stringify checks it with all that it contains, and that again at each level.
    if (isRecursive && isDeeperThan(maxFastLevels, value)) return writeSlowly(value)
    try {
      return fast(value)
    } catch (error) {
      return writeSlowly(value, error) // fast-json-stringify rejects some valid results
    }
  }
}

const maxFastLevels = 4

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isDeeperThan(levels - 1, one))
}

function buildFast(schema: JsonSchema, named: NamedSchemas): Serializer {
  if (mentionsObjectNames(schema, named)) throw new Error('it would write inherited properties')
  const external = mapNamed(named, toDraft07)
  const own = toDraft07(schema)
  // fast-json-stringify writes items after a tuple unchanged, whatever their schema.
  if (JSON.stringify([own, external]).includes('"additionalItems":{')) throw new Error('a tuple with additional items')
  return buildSerializer(
    own as unknown as Schema,
    {
      schema: external as Record<string, unknown>,
      ajv: {
        ...patternOptions,
        strict: false,
        strictNumbers: true,
        logger: false,
        keywords: makeExactKeywords({ _, Name }, exactPrefix),
      },
    } as Parameters<typeof buildSerializer>[1],
  )
}

/** Makes the serializer that interprets the schema. It returns undefined for an invalid result. */
function makeSlowWriter(written: JsonSchema, allNamed: NamedSchemas): (value: unknown) => string | undefined {
  const schema = withoutAccess(written, allNamed, excluded.result)
  const named = withoutAccessIn(allNamed, excluded.result)
  const budget = new StepBudget()
  const fits = compile(schema, named, { isCoerced: false, allErrors: false, budget })
  const root = toDraft2020(schema)
  const all = Object.fromEntries(Object.entries(named).map(([name, one]) => [name, toDraft2020(one)]))
  return (value) => {
    const text = JSON.stringify(value) ?? 'null'
    const plain: unknown = JSON.parse(text)
    budget.left = getMaxSteps(text.length)
    return fits(plain) ? JSON.stringify(removeUndeclared(plain, root, all)) : undefined
  }
}
