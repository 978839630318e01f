import type { SearchSnapshot } from '../contract/index.ts'
import type { ColumnChange, ColumnDeclaration, Step } from '../tables/index.ts'
import { indentation, writeYaml, type Writable, type WritableMap } from './write-yaml.ts'

/** Returns the text of a declared migration with steps, in their order. */
export function writeMigration(steps: readonly Step[]): string {
  const groups = groupSteps(steps)
  const [only] = groups
  if (only === undefined) return ''
  if (groups.length === 1) return writeYaml(only)
  return groups
    .map(
      (group) =>
        `- ${writeYaml(group)
          .trimEnd()
          .replaceAll('\n', `\n${' '.repeat(indentation)}`)}\n`,
    )
    .join('')
}

/** A map has each kind of step once: a kind that comes again begins another map. */
function groupSteps(steps: readonly Step[]): readonly WritableMap[] {
  const groups: Record<string, Writable>[] = []
  let last: Step['step'] | undefined
  for (const step of steps) {
    const current = groups.at(-1)
    const isConcurrent = 'concurrently' in step
    const fits = current !== undefined && 'concurrently' in current === isConcurrent
    const group =
      fits && (step.step === last || !(step.step in current)) ? current : isConcurrent ? { concurrently: true } : {}
    if (group !== current) groups.push(group)
    group[step.step] = addStep(group[step.step], step)
    last = step.step
  }
  return groups
}

function addStep(before: Writable | undefined, step: Step): Writable {
  if (step.step === 'drop_table') return [...((before as readonly string[] | undefined) ?? []), step.table]
  const tables = (before as WritableMap | undefined) ?? {}
  const own = tables[step.table]
  const list = (own as readonly Writable[] | undefined) ?? []
  const map = (own as WritableMap | undefined) ?? {}
  switch (step.step) {
    case 'create_table':
      return { ...tables, [step.table]: writeTable(step) }
    case 'add_column':
      return { ...tables, [step.table]: { ...map, [step.column]: writeColumn(step.as) } }
    case 'alter_column':
      return { ...tables, [step.table]: { ...map, [step.column]: writeChange(step.change) } }
    case 'rename_column':
      return { ...tables, [step.table]: { ...map, [step.column]: step.to } }
    case 'add_search':
    case 'drop_search':
      return { ...tables, [step.table]: writeSearch(step) }
    case 'drop_column':
      return { ...tables, [step.table]: [...list, step.column] }
    default:
      return { ...tables, [step.table]: [...list, step.columns] }
  }
}

function writeSearch({ columns, configuration }: SearchSnapshot): Writable {
  return configuration === undefined ? columns : { columns, configuration }
}

function writeTable({ columns, key, unique, index }: Extract<Step, { step: 'create_table' }>): WritableMap {
  return {
    columns: Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, writeColumn(column)])),
    ...(key && { key }),
    ...(unique && { unique }),
    ...(index && { index }),
  }
}

function writeChange({ type, length, ...rest }: ColumnChange): WritableMap {
  const written = length === undefined ? type : `${type}(${length})`
  return { ...(written !== undefined && { type: written }), ...(rest as WritableMap) }
}

function writeColumn({ type, length, ...rest }: ColumnDeclaration): Writable {
  const written = length === undefined ? type : `${type}(${length})`
  return Object.keys(rest).length === 0 ? written : { type: written, ...(rest as WritableMap) }
}
