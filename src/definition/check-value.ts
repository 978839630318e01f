import path from 'node:path'
import type { Diagnostic } from '../kit/index.ts'
import { checkClassConfigs } from './check-class-configs.ts'
import { checkDispatches } from './check-dispatches.ts'
import { checkSchemaValues } from './check-schema-values.ts'
import { checkTuples } from './check-tuples.ts'
import type { ClassCatalog } from './class-catalog.ts'
import { composeValue } from './compose-value.ts'
import type { Definition } from './definition.ts'
import { createLoadContext, makeSourceCache, maxValues as limit } from './load-context.ts'
import { makeDefinition } from './make-definition.ts'
import { makeReport, type Report } from './report.ts'
import { noFolder } from './read-file.ts'

export interface CheckValueOptions {
  /** Action files that are assumed to exist. The disk is not read. */
  readonly files: Iterable<string>
  readonly classes: ClassCatalog
}

export interface CheckedValue {
  readonly definition: Definition
  readonly problems: readonly ValueProblem[]
}

/** An error with the JSON pointer of its value. */
export interface ValueProblem extends Pick<Diagnostic, 'code' | 'message' | 'hint'> {
  readonly pointer: string
}

/**
 * Checks a plain value from an untrusted source like `loadDefinition` checks files. Nothing is read from disk: an
 * include or a `$ref` to a file is an error. The caller has already limited the depth and size of the value.
 */
export async function checkDefinitionValue(value: unknown, options: CheckValueOptions): Promise<CheckedValue> {
  const report = withoutWarnings(makeReport())
  const inside = [...options.files].filter((file) => !path.posix.normalize(file).startsWith('..'))
  const texts = new Map(inside.map((file) => [file, '']))
  const loading = createLoadContext({ folder: noFolder, report, cache: makeSourceCache(), changed: undefined, texts })
  const { root, pointerAt } = composeValue(value, loading)
  if (loading.budget.remaining < 0) report.add({ code: 'WP_DEFINITION_TOO_LARGE', at: root, parameters: { limit } })
  const { context, definition } = makeDefinition(loading, root)
  await checkSchemaValues(context, definition)
  checkTuples(context, definition)
  await checkClassConfigs(context, options.classes)
  checkDispatches(context, definition)
  const scopes = Object.fromEntries(context.scopes)
  const problems = report
    .diagnostics([])
    .map(({ code, message, hint, range }) => ({ code, message, hint, pointer: pointerAt(range.start.column) }))
  return { definition: { ...definition, scopes }, problems: problems as ValueProblem[] }
}

/** Drops warnings: they are for the authors of files, and a value that is included many times would repeat them. */
function withoutWarnings(report: Report): Report {
  return {
    ...report,
    add(problem) {
      if (problem.severity !== 'warning') report.add(problem)
    },
  }
}
