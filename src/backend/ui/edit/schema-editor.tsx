import { Checkbox } from '@mantine/core'
import { Plus, SlidersHorizontal } from 'lucide-react'
import { memo, useEffect, useId, useRef, useState } from 'react'
import { describeLimits } from '../components/schema-words.ts'
import { useNear } from '../components/use-near.ts'
import { changeRequired, renameField } from './change-fields.ts'
import { canBeNull, changeKeyword, changeNull } from './change-type.ts'
import { Actions, addFieldTo, addVariantTo, onNameKey } from './schema-actions.tsx'
import { EditorContext, nameOfVariant, titleOf, update, useEditor, type Editor, type Focus } from './schema-context.ts'
import { formats } from './schema-limit.tsx'
import { LimitsPanel } from './schema-limits.tsx'
import {
  listMoreKeywords,
  parentOf,
  readRows,
  toKeywords,
  type KnownRows,
  type NamedSchemas,
  type Row,
} from './schema-rows.ts'
import { TypeInputs } from './schema-types.tsx'
import { pointerOf, valueAt } from './values.ts'
import { columnsTexts, kindsTexts, namesTexts, ofTexts, schemaEditorTexts } from './schema-texts.ts'

interface SchemaEditorProps {
  readonly schema: unknown
  onChange(schema: unknown): void
  /** The schemas that it may refer to, by name. */
  readonly named: NamedSchemas
  /** What it describes: the name of the schema, for example. */
  readonly label: string
  /** Whether it is a multipart body, whose fields may be files. */
  readonly hasFiles?: boolean | undefined
  /** JSON pointer of the schema in waypost.yml, to find the field of an error. */
  readonly at?: string
  errorOf?(at: string): string | undefined
}

/** The fields of a JSON Schema as a table, with those of nested objects, lists and unions. */
export function SchemaEditor({ schema, onChange, named, label, hasFiles = false, at, errorOf }: SchemaEditorProps) {
  const base = useId()
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const focus = useRef<Focus>(undefined)
  const known = useRef<KnownRows>(new WeakMap())
  const idOf: Editor['idOf'] = ({ id }, part) => `${base}${id}-${part}`
  useEffect(() => {
    const next = focus.current
    if (next === undefined) return
    focus.current = undefined
    const input = document.getElementById(idOf(next, next.part ?? 'name'))
    input?.focus()
    if (next.isNew === true && input instanceof HTMLInputElement) input.select()
  })
  const tree = readRows(schema, known.current)
  const current: Editor = {
    schema,
    named,
    label,
    hasFiles,
    at,
    tree,
    opened,
    focused: focus.current?.id,
    idOf,
    errorOf: (row) => (at === undefined ? undefined : errorOf?.(at + pointerOf(...row.at))),
    change(next, nextFocus) {
      focus.current = nextFocus
      onChange(next)
    },
    toggle(id, isOpen) {
      const next = new Set(opened)
      if (isOpen) next.add(id)
      else next.delete(id)
      setOpened(next)
    },
  }
  // One object for all renderings: a row is rendered again only if it has changed, and what it does reads the latest values.
  const editor = useRef(current).current
  Object.assign(editor, current)
  return (
    <EditorContext value={editor}>
      <div className="fields-frame">
        <div className="fields" role="group" aria-label={schemaEditorTexts.fields(label)}>
          <div className="field-row field-head" aria-hidden>
            <span className="field-name">{columnsTexts.name}</span>
            <span className="field-type">{columnsTexts.type}</span>
            <span className="field-required">{columnsTexts.required}</span>
            <span className="field-null">{columnsTexts.nullable}</span>
            <span className="field-description">{columnsTexts.description}</span>
            <span className="field-limits">{columnsTexts.limits}</span>
          </div>
          <FieldRow {...propsOf(editor, tree, label)} />
          {hasChildren(tree) ? <Children row={tree} title={label} /> : null}
        </div>
        <p className="fields-keys soft">{schemaEditorTexts.keys}</p>
      </div>
    </EditorContext>
  )
}

interface FieldRowProps {
  readonly row: Row
  readonly title: string
  /** What a row without an input for its name is called. */
  readonly name: string
  readonly isOpen: boolean
  /** Whether it is about to get the focus. */
  readonly isFocused: boolean
  readonly error: string | undefined
  /** Only of open rows, whose panel needs them. */
  readonly named: NamedSchemas | undefined
}

function propsOf(editor: Editor, row: Row, title: string, parent?: Row): FieldRowProps {
  const name =
    row.role === 'variant' ? nameOfVariant(editor, row, parent) : row.role === 'other' ? schemaEditorTexts.other : title
  const isOpen = editor.opened.has(row.id)
  const isFocused = editor.focused === row.id
  return { isFocused, row, title, name, isOpen, error: editor.errorOf(row), named: isOpen ? editor.named : undefined }
}

const hasChildren = ({ types }: Row) => ['object', 'union'].includes(types.at(-1)!.kind)

/** The rows inside of a row, and the button that adds one. */
function Children({ row, title }: { readonly row: Row; readonly title: string }) {
  const editor = useEditor()
  const { kind } = row.types.at(-1)!
  const [text, name, add] =
    kind === 'object'
      ? [schemaEditorTexts.add, schemaEditorTexts.addTo(title), () => addFieldTo(editor, row)]
      : [schemaEditorTexts.addVariant, schemaEditorTexts.addVariantTo(title), () => addVariantTo(editor, row)]
  return (
    <ul className="field-children" aria-label={schemaEditorTexts.fields(title)}>
      {row.children.map((child) => {
        const childTitle = titleOf(editor, child, { parent: row, title })
        return (
          <li key={child.id}>
            <FieldRow {...propsOf(editor, child, childTitle, row)} />
            {hasChildren(child) ? <Children row={child} title={childTitle} /> : null}
          </li>
        )
      })}
      <li>
        <button type="button" className="field-add" id={editor.idOf(row, 'add')} aria-label={name} onClick={add}>
          <Plus size={14} aria-hidden /> {text}
        </button>
      </li>
    </ul>
  )
}

/** Rendered again only if its row, or what is shown of it, has changed. */
const FieldRow = memo(function FieldRow({ row, title, name, isOpen, isFocused, error, named = {} }: FieldRowProps) {
  const editor = useEditor()
  const [element, isNear] = useNear<HTMLDivElement>('#content, .sheet')
  const isShown = useRef(false)
  isShown.current ||= isNear || isFocused || isOpen || row.role === 'root'
  const description = toKeywords(row.schema)['description']
  return (
    <div
      className="field"
      ref={element}
      data-open={isOpen || undefined}
      data-described={description === undefined ? undefined : true}
      data-root={row.role === 'root' || undefined}
    >
      <div
        className="field-row"
        role="group"
        aria-label={row.role === 'root' ? schemaEditorTexts.self(title) : title}
        data-at={editor.at === undefined ? undefined : editor.at + pointerOf(...row.at)}
      >
        {isShown.current ? <Cells row={row} title={title} name={name} /> : <FarCells row={row} name={name} />}
        <div className="field-limits">
          <button
            type="button"
            className="field-summary"
            id={editor.idOf(row, 'limits')}
            aria-expanded={isOpen}
            onClick={() => editor.toggle(row.id, !isOpen)}
          >
            <span className="hidden">{ofTexts.limits(title)}</span>
            <Summary row={row} />
          </button>
        </div>
        <div className="field-actions">
          {row.role === 'root' || !isShown.current ? null : <Actions row={row} title={title} />}
        </div>
      </div>
      {error === undefined ? null : (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      {isOpen ? (
        <LimitsPanel
          row={row}
          title={title}
          named={named}
          onChange={(change) => editor.change(change(editor.schema))}
        />
      ) : null}
    </div>
  )
})

/** What can be found in a row that is far from the part of the page that is shown. */
function FarCells({ row, name }: Pick<FieldRowProps, 'row' | 'name'>) {
  return (
    <>
      <span translate="no" className="field-name mono">
        {row.role === 'field' ? row.name : name}
      </span>
      <span className="field-type">{row.types.map((part) => part.name ?? kindsTexts[part.kind]).join(' ')}</span>
    </>
  )
}

type CellsProps = Pick<FieldRowProps, 'row' | 'title' | 'name'>

/** What is said in the line of a row: its name, type and description, and whether it is required and may be null. */
function Cells({ row, title, name }: CellsProps) {
  const editor = useEditor()
  const description = toKeywords(row.schema)['description']
  const change = (next: (schema: unknown) => unknown) => editor.change(update(editor, row, next))
  return (
    <>
      <div className="field-name">
        {row.role === 'field' ? (
          <NameInput row={row} title={title} />
        ) : (
          <span className={row.role === 'root' ? 'strong' : 'soft'} dir="auto">
            {name}
          </span>
        )}
      </div>
      <div className="field-type">
        <TypeInputs row={row} title={title} />
      </div>
      <div className="field-required">
        {row.role === 'field' ? (
          <Checkbox
            checked={row.isRequired}
            label={columnsTexts.required}
            aria-label={ofTexts.required(title)}
            onChange={(event) => editor.change(changeRequired(editor.schema, row, event.currentTarget.checked))}
          />
        ) : null}
      </div>
      <div className="field-null">
        {row.role === 'field' && canBeNull(row.types[0]!.kind) ? (
          <Checkbox
            checked={row.types[0]!.isNullable}
            label={columnsTexts.nullable}
            aria-label={ofTexts.nullable(title)}
            onChange={({ currentTarget: { checked } }) => change((one) => changeNull(one, checked))}
          />
        ) : null}
      </div>
      <div className="field-description">
        <input
          className="field-input"
          value={typeof description === 'string' ? description : ''}
          placeholder={columnsTexts.description}
          aria-label={ofTexts.description(title)}
          dir="auto"
          onChange={({ currentTarget: { value } }) =>
            editor.change(
              update(editor, row, (one) => changeKeyword(one, 'description', value === '' ? undefined : value)),
            )
          }
        />
      </div>
    </>
  )
}

function NameInput({ row, title }: { readonly row: Row; readonly title: string }) {
  const editor = useEditor()
  // What was typed if it cannot be the name. Another field can take the place of this one.
  const [typed, setTyped] = useState<{ readonly of: string; readonly text: string }>()
  const before = useRef(row.name)
  const shown = typed?.of === row.name ? typed.text : row.name
  const isTaken =
    shown !== row.name &&
    parentOf(editor.tree, row)?.children.some(({ role, name }) => role === 'field' && name === shown)
  const error = shown === '' ? namesTexts.empty : isTaken ? namesTexts.taken(shown) : undefined
  const errorId = editor.idOf(row, 'name-error')
  return (
    <>
      <input
        id={editor.idOf(row, 'name')}
        className="field-input mono"
        value={shown}
        aria-label={ofTexts.name(title)}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : errorId}
        aria-keyshortcuts="Enter Alt+ArrowUp Alt+ArrowDown Alt+Shift+ArrowLeft Alt+Shift+ArrowRight"
        autoComplete="off"
        spellCheck={false}
        dir="auto"
        onFocus={() => {
          before.current = row.name
        }}
        onBlur={() => {
          // The names in between, while it was typed, are not what was meant.
          if (error !== undefined && before.current !== row.name)
            editor.change(renameField(editor.schema, row, before.current) ?? editor.schema)
          setTyped(undefined)
        }}
        onChange={({ currentTarget: { value } }) => {
          const renamed = value === '' ? undefined : renameField(editor.schema, row, value)
          setTyped(renamed === undefined ? { of: row.name, text: value } : undefined)
          if (renamed !== undefined) editor.change(renamed)
        }}
        onKeyDown={(event) => onNameKey(event, editor, row)}
      />
      {error === undefined ? null : (
        <p id={errorId} className="field-error" role="alert">
          {error}
        </p>
      )}
    </>
  )
}

/** The limits of a row in a few words. */
function Summary({ row }: { readonly row: Row }) {
  const words = summarize(row)
  const more = listMoreKeywords(row).length
  return (
    <>
      {words.length === 0 ? (
        <>
          <SlidersHorizontal size={14} aria-hidden className="field-summary-icon" />
          <span aria-hidden>{columnsTexts.limits}</span>
        </>
      ) : null}
      <span className="field-summary-text" dir="auto" title={words.join(' · ')}>
        {words.join(' · ')}
      </span>
      {more === 0 ? null : (
        <span className="field-more" title={schemaEditorTexts.moreCount(more)}>
          +{more}
        </span>
      )}
    </>
  )
}

function summarize({ schema, types }: Row): readonly string[] {
  const words = types.flatMap(({ kind, inner }) => {
    const {
      format,
      description: _description,
      default: _default,
      enum: values,
      types,
      maxSize,
      ...limits
    } = toKeywords(valueAt(schema, inner))
    const isListed = typeof format === 'string' && formats.some((one) => one === format)
    const fixed = kind === 'const' ? [`= ${JSON.stringify(limits['const'])}`] : []
    const allowed = Array.isArray(values)
      ? [
          values
            .filter((one) => one !== null)
            .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
            .join(' | '),
        ]
      : []
    const file = kind === 'file' ? [...(Array.isArray(types) ? types.map(String) : []), `≤ ${String(maxSize)}`] : []
    const closed = kind === 'object' && limits['additionalProperties'] === false ? [schemaEditorTexts.onlyKnown] : []
    return [
      ...fixed,
      ...allowed,
      ...file,
      ...describeLimits(isListed || format === undefined ? limits : { ...limits, format }),
      ...closed,
    ]
  })
  const { default: preset, deprecated } = toKeywords(schema)
  if (preset !== undefined) words.push(`default ${JSON.stringify(preset)}`)
  if (deprecated === true) words.push(schemaEditorTexts.deprecated)
  return words
}
