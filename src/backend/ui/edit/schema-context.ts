import { createContext, useContext } from 'react'
import { findDiscriminator, fixedValueOf, parentOf, type NamedSchemas, type Row } from './schema-rows.ts'
import { withValueAt } from './values.ts'
import { schemaEditorTexts as texts } from './schema-texts.ts'

/** The schema that is edited. */
export interface Editor {
  readonly schema: unknown
  readonly named: NamedSchemas
  readonly label: string
  readonly at: string | undefined
  readonly tree: Row
  readonly opened: ReadonlySet<string>
  /** Whether it is a multipart body, whose fields may be files. */
  readonly hasFiles: boolean
  idOf(row: Pick<Row, 'id'>, part: string): string
  errorOf(row: Row): string | undefined
  /** The id of the row that is about to get the focus. */
  readonly focused: string | undefined
  /** Changes the schema and moves the focus. */
  change(schema: unknown, focus?: Focus): void
  toggle(id: string, isOpen: boolean): void
}

export interface Focus {
  readonly id: string
  readonly part?: string
  readonly isNew?: boolean
}

export const EditorContext = createContext<Editor | undefined>(undefined)

export function useEditor(): Editor {
  return useContext(EditorContext)!
}

/** What a row is called in labels: its name with those around it. */
export function titleOf(
  editor: Pick<Editor, 'tree' | 'label' | 'named'>,
  row: Row,
  known?: { readonly parent: Row; readonly title: string },
): string {
  if (row.role === 'root') return editor.label
  const parent = known?.parent ?? parentOf(editor.tree, row)
  const around = parent === undefined || parent.role === 'root' ? '' : `${known?.title ?? titleOf(editor, parent)}.`
  if (row.role === 'field') return around + row.name
  return around + (row.role === 'other' ? texts.other : nameOfVariant(editor, row, parent))
}

/** Names an alternative by what tells it apart. */
export function nameOfVariant({ named }: Pick<Editor, 'named'>, row: Row, union: Row | undefined): string {
  const index = Number(row.at.at(-1))
  const property = union === undefined ? undefined : findDiscriminator(union, named)
  const { name } = row.types[0]!
  const target = name !== undefined && Object.hasOwn(named, name) ? named[name] : row.schema
  const value = property === undefined ? undefined : fixedValueOf(target, property)
  return value === undefined ? texts.variant(index) : `${property} = ${value.replaceAll('"', '')}`
}

/** Changes the schema of a row. */
export function update({ schema }: Editor, row: Row, change: (schema: unknown) => unknown): unknown {
  return withValueAt(schema, row.at, change(row.schema))
}
