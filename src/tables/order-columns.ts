import type { TablesSnapshot } from '../contract/index.ts'
import { declareColumns } from './design.ts'
import type { Step } from './steps.ts'

/**
 * Returns the tables with their columns in the order in which migrations declare them. Those that code has added follow; in a
 * table that code has created, they precede.
 * @param steps all declared steps of the connection
 */
export function orderColumns({ tables }: TablesSnapshot, steps: readonly Step[]): TablesSnapshot {
  if (steps.length === 0) return { tables }
  const ordered = Object.entries(tables).map(([name, table]) => {
    const declared = Object.keys(declareColumns(name, steps)).filter((one) => Object.hasOwn(table.columns, one))
    const others = Object.keys(table.columns).filter((one) => !declared.includes(one))
    const isCreated = steps.some(({ step, table: own }) => step === 'create_table' && own === name)
    const names = isCreated ? [...declared, ...others] : [...others, ...declared]
    return [name, { ...table, columns: Object.fromEntries(names.map((one) => [one, table.columns[one]!])) }] as const
  })
  return { tables: Object.fromEntries(ordered) }
}
