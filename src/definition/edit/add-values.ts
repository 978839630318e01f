import { editDefinition, type Edit, type EditedFiles } from './edit-definition.ts'
import { EditRefused } from './edit-refused.ts'
import { type Editing } from './editing.ts'
import { toPlain } from './find-value.ts'
import { listReached } from './references.ts'
import { findOwners, listMethods, type TableColumns } from './rename-columns.ts'
import { isObject } from './rename.ts'
import { collectRowSchemas } from './row-schemas.ts'

/** A column whose values are listed, and the values that it gets. */
export interface NewValues {
  readonly column: string
  readonly before: readonly string[]
  readonly added: readonly string[]
}

/**
 * Adds the new values of enum columns to the schemas of rows that list all values so far, in the methods that use the table
 * and in the events that only they dispatch: those schemas would refuse rows with the new values. Schemas that something
 * else uses too, and texts that cannot be edited, stay.
 */
export function addValues(
  editing: Editing,
  { columns, ...table }: TableColumns & { readonly columns: readonly NewValues[] },
): EditedFiles {
  const work: Editing = { ...editing, files: new Map(editing.files) }
  listReached(work)
  const { schemas, shared } = collectRowSchemas(work, listMethods(work, findOwners(work, table)), table.classes)
  const edits = schemas.flatMap(({ at, of }): readonly Edit[] => {
    const value = toPlain(work, at.cursor)
    const properties = isObject(value) ? value['properties'] : undefined
    if ((of !== undefined && shared.has(of)) || !isObject(properties)) return []
    return columns.flatMap(({ column, before, added }) => {
      const own = properties[column]
      const list: unknown = isObject(own) ? own['enum'] : undefined
      if (!Array.isArray(list) || !before.every((one) => list.includes(one))) return []
      const keys = [...at.keys, 'properties', column, 'enum', '-']
      return added.filter((one) => !list.includes(one)).map((one) => ({ keys, value: one }))
    })
  })
  return editDefinition(
    editing,
    edits.filter((one) => isEditable(editing, one)),
  )
}

function isEditable(editing: Editing, edit: Edit): boolean {
  try {
    editDefinition(editing, [edit])
    return true
  } catch (error) {
    if (error instanceof EditRefused) return false
    throw error
  }
}
