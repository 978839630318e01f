import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { installation } from '../kit/index.ts'
import { describeApi, type DescribeOptions } from './describe-api.ts'

/** The part that is used of what `npm run build` bundles from the package oazapfts and the TypeScript compiler. */
interface ClientGenerator {
  generateSource(document: object, options: { readonly useUnknown: boolean }): Promise<string>
}

// It would be checked by rules that its reader chose for code of his own.
const head = '// @ts-nocheck\n/* eslint-disable */\n'

/**
 * A client of a project's API as one TypeScript file: a function for each operation, typed by its schemas.
 * @throws what `describeApi` throws
 */
export async function generateClient(options: DescribeOptions): Promise<string> {
  const document = await describeApi(options)
  const file = path.join(installation, 'dist/vendor/client-generator.js')
  const generator = (await import(pathToFileURL(file).href)) as ClientGenerator
  return head + (await generator.generateSource(withoutTuples(document) as object, { useUnknown: true }))
}

/** The generator knows no tuples: they become lists of what may stand in them, not lists of nothing. */
function withoutTuples(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutTuples)
  const { prefixItems, ...rest } = value as { prefixItems?: unknown; items?: unknown }
  const tuple = Array.isArray(prefixItems)
    ? { ...rest, items: { anyOf: [...prefixItems, ...(rest.items === false ? [] : [rest.items ?? {}])] } }
    : value
  return Object.fromEntries(Object.entries(tuple).map(([key, inner]) => [key, withoutTuples(inner)]))
}
