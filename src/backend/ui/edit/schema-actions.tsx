import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis } from 'lucide-react'
import type { KeyboardEvent, ReactNode } from 'react'
import { announce } from '../components/announce.tsx'
import {
  addField,
  addVariant,
  findIndentTarget,
  indentField,
  moveRow,
  objectOf,
  outdentField,
  removeRow,
  type NewField,
} from './change-fields.ts'
import { titleOf, useEditor, type Editor } from './schema-context.ts'
import { flattenRows, parentOf, readRows, referenceTo, type Row } from './schema-rows.ts'
import { ofTexts, schemaEditorTexts } from './schema-texts.ts'

const actionsTexts = {
  below: 'Add field below',
  duplicate: 'Duplicate',
  up: 'Move up',
  down: 'Move down',
  into: (name: string) => `Move into ${name}`,
  out: (name: string) => `Move out of ${name}`,
  remove: (name: string) => `Remove ${name}`,
} as const

/** Adds a field to the object of a row, and moves the focus to its name. */
export function addFieldTo(editor: Editor, object: Row, options?: NewField): void {
  const { schema, name } = addField(editor.schema, object, options)
  editor.change(schema, { id: idAt(schema, [...objectOf(object), 'properties', name]), isNew: true })
}

/** Adds an alternative to the union of a row: another schema if all are schemas. */
export function addVariantTo(editor: Editor, union: Row): void {
  const isOfReferences = union.children.every(({ types }) => types[0]!.kind === 'reference')
  const used = new Set(union.children.map(({ types }) => types[0]!.name))
  const other = isOfReferences ? Object.keys(editor.named).find((name) => !used.has(name)) : undefined
  const variant = other === undefined ? { type: 'object' } : referenceTo(other)
  const schema = addVariant(editor.schema, union, variant)
  const rows = flattenRows(readRows(schema)).find(({ id }) => id === union.id)!.children
  editor.change(schema, { id: rows.at(-1)!.id, part: 'type' })
}

function idAt(schema: unknown, at: readonly string[]): string {
  const found = flattenRows(readRows(schema)).find((row) => row.at.join('\n') === at.join('\n'))
  return found?.id ?? ''
}

/** Runs what a key does in the name of a row. */
export function onNameKey(event: KeyboardEvent<HTMLInputElement>, editor: Editor, row: Row): void {
  const run = actionOfKey(event, editor, row)
  if (run === undefined) return
  event.preventDefault()
  run()
}

function actionOfKey(event: KeyboardEvent<HTMLInputElement>, editor: Editor, row: Row): (() => void) | undefined {
  const { key, altKey, shiftKey, ctrlKey, metaKey } = event
  if (ctrlKey || metaKey || event.nativeEvent.isComposing) return undefined
  if (key === 'Enter' && !altKey) return () => addBelow(editor, row)
  if (key === 'Backspace' && !altKey && event.currentTarget.value === '') return () => remove(editor, row)
  if (!altKey) return undefined
  if (shiftKey && key === 'ArrowRight') return () => indent(editor, row)
  if (shiftKey && key === 'ArrowLeft') return () => outdent(editor, row)
  if (shiftKey) return undefined
  if (key === 'ArrowUp') return () => move(editor, row, -1)
  return key === 'ArrowDown' ? () => move(editor, row, 1) : undefined
}

// What keys and the menu of a row do

function addBelow(editor: Editor, row: Row): void {
  const parent = parentOf(editor.tree, row)
  if (parent !== undefined) addFieldTo(editor, parent, { index: parent.children.indexOf(row) + 1 })
}

function duplicate(editor: Editor, row: Row): void {
  const parent = parentOf(editor.tree, row)
  if (parent === undefined) return
  const { name, isRequired, schema: field } = row
  addFieldTo(editor, parent, { index: parent.children.indexOf(row) + 1, name, field, isRequired })
}

function move(editor: Editor, row: Row, by: number): void {
  const moved = moveRow(editor.schema, row, by)
  const siblings = parentOf(editor.tree, row)?.children ?? []
  const index = siblings.indexOf(row) + by
  if (moved === undefined) return
  editor.change(moved, { id: siblings[index]!.id, part: row.role === 'field' ? 'name' : 'type' })
  announce(schemaEditorTexts.moved(titleOf(editor, row), index + 1, siblings.length))
}

function indent(editor: Editor, row: Row): void {
  const target = findIndentTarget(editor.tree, row)
  const moved = indentField(editor.schema, row)
  if (moved === undefined || target === undefined) return
  editor.change(moved.schema, { id: moved.id })
  announce(schemaEditorTexts.movedInto(row.name, titleOf(editor, target)))
}

function outdent(editor: Editor, row: Row): void {
  const moved = outdentField(editor.schema, row)
  if (moved === undefined) return
  const around = parentOf(editor.tree, parentOf(editor.tree, row)!)!
  editor.change(moved.schema, { id: moved.id })
  announce(schemaEditorTexts.movedInto(row.name, titleOf(editor, around)))
}

function remove(editor: Editor, row: Row): void {
  const parent = parentOf(editor.tree, row)
  if (parent === undefined) return
  const index = parent.children.indexOf(row)
  const next = parent.children[index === 0 ? 1 : index - 1]
  // What follows takes the place of the row.
  const id = index === 0 ? row.id : next?.id
  const part = row.role === 'field' ? 'name' : 'type'
  const isEmpty = next === undefined || next.role !== row.role
  editor.change(removeRow(editor.schema, row), isEmpty ? { id: parent.id, part: 'add' } : { id: id!, part })
  announce(schemaEditorTexts.removed(titleOf(editor, row)))
}

/** The menu of a row. */
export function Actions({ row, title }: ActionsProps) {
  const editor = useEditor()
  return (
    <Menu width={260} returnFocus={false}>
      <Menu.Target>
        <ActionIcon aria-label={ofTexts.actions(title)} id={editor.idOf(row, 'actions')}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Items row={row} title={title} />
      </Menu.Dropdown>
    </Menu>
  )
}

interface ActionsProps {
  readonly row: Row
  readonly title: string
}

/** Rendered only while the menu is open. */
function Items({ row, title }: ActionsProps) {
  const editor = useEditor()
  const parent = parentOf(editor.tree, row)!
  const siblings = parent.children.filter(({ role }) => role === row.role)
  const index = siblings.findIndex(({ id }) => id === row.id)
  const target = findIndentTarget(editor.tree, row)
  const isField = row.role === 'field'
  const canLeave = isField && parent.role === 'field' && parentOf(editor.tree, parent)?.types.at(-1)!.kind === 'object'
  const items: readonly (readonly [string, boolean, () => void, string?])[] = [
    [actionsTexts.below, isField, () => addBelow(editor, row), 'Enter'],
    [actionsTexts.duplicate, isField, () => duplicate(editor, row)],
    [actionsTexts.up, index > 0, () => move(editor, row, -1), 'Alt+↑'],
    [actionsTexts.down, index < siblings.length - 1 && row.role !== 'other', () => move(editor, row, 1), 'Alt+↓'],
    [actionsTexts.into(target?.name ?? ''), target !== undefined, () => indent(editor, row), 'Alt+Shift+→'],
    [actionsTexts.out(parent.name), canLeave, () => outdent(editor, row), 'Alt+Shift+←'],
  ]
  return (
    <>
      {items.map(([label, isShown, run, keys]) =>
        isShown ? (
          <Menu.Item key={label} onClick={run} rightSection={keys === undefined ? null : <Keys>{keys}</Keys>}>
            {label}
          </Menu.Item>
        ) : null,
      )}
      <Menu.Divider />
      <Menu.Item color="var(--bad)" onClick={() => remove(editor, row)}>
        {actionsTexts.remove(isField ? row.name : title)}
      </Menu.Item>
    </>
  )
}

function Keys({ children }: { readonly children: ReactNode }) {
  return (
    <kbd className="soft" aria-hidden>
      {children}
    </kbd>
  )
}
