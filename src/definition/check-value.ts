import { devNull } from 'node:os'
import path from 'node:path'
import type { Diagnostic } from '../kit/index.ts'
import { checkClassConfigs } from './check-class-configs.ts'
import type { ClassCatalog } from './class-catalog.ts'
import { composeValue } from './compose-value.ts'
import type { Definition } from './definition.ts'
import { makeLoading, makeSourceCache, maxValues as limit } from './loading.ts'
import { makeDefinition } from './make-definition.ts'
import { makeReport, type Report } from './report.ts'

export interface CheckValueOptions {
  /** Files of actions that count as there: nothing is looked for on the disk. */
  readonly files: Iterable<string>
  readonly classes: ClassCatalog
}

export interface CheckedValue {
  readonly definition: Definition
  readonly problems: readonly ValueProblem[]
}

/** An error, and the JSON pointer of the value that has it. */
export interface ValueProblem extends Pick<Diagnostic, 'code' | 'message' | 'hint'> {
  readonly pointer: string
}

/**
 * Checks what came as a plain value, from who knows whom, by all that `loadDefinition` asks of the files of a project.
 * Nothing is read: an include or a `$ref` to a file is an error. The value has been found to be no deeper and no larger
 * than its reader takes.
 */
export async function checkDefinitionValue(value: unknown, options: CheckValueOptions): Promise<CheckedValue> {
  const report = withoutWarnings(makeReport())
  const inside = [...options.files].filter((file) => !path.posix.normalize(file).startsWith('..'))
  const texts = new Map(inside.map((file) => [file, '']))
  const loading = makeLoading({ folder: nowhere, report, cache: makeSourceCache(), changed: undefined, texts })
  const { root, pointerAt } = composeValue(value, loading)
  if (loading.budget.left < 0) report.add({ code: 'WP_DEFINITION_TOO_LARGE', at: root, parameters: { limit } })
  const { making, definition } = makeDefinition(loading, root)
  await checkClassConfigs(making, options.classes)
  const problems = report
    .diagnostics([])
    .map(({ code, message, hint, range }) => ({ code, message, hint, pointer: pointerAt(range.start.column) }))
  return { definition, problems: problems as ValueProblem[] }
}

/** Warnings are for who writes a project: what is included often would have each as often, and more than there may be. */
function withoutWarnings(report: Report): Report {
  return {
    ...report,
    add(problem) {
      if (problem.severity !== 'warning') report.add(problem)
    },
  }
}

/** What stands below a file is never there. */
const nowhere = { root: devNull, realRoot: devNull }
