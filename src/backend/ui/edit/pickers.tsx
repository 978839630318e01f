import { ActionIcon, Button, Menu, MultiSelect, PasswordInput, TextInput, Tooltip } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Braces, Plus } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { definitionQuery, tablesQuery, type Definition } from '../api/definition.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { isBackendScope, useScopes } from '../components/access.tsx'
import { useServerDraft } from './draft.ts'
import { listEmbedded, type EmbeddedKind } from './embedded-names.ts'
import { NameEntry } from './entry-dialogs.tsx'
import { inputProps, ListField, listOf, SelectField, type FieldProps } from './fields.tsx'
import { useChoices } from './choices.tsx'
import { isMap, keysOf, pointerOf } from './values.ts'
import { variableTexts } from './edit-texts.ts'
import { fieldTexts, pickerTexts as texts } from './field-texts.ts'
import { scopeTexts } from '../pages/scope-texts.ts'

/**
 * The kinds of names that a config can contain: the values of `x-waypost` and other names of the definition. `sort` and
 * `filter` are columns, also with a sign before or a name of another row.
 */
export type NameKind =
  | 'schema'
  | 'scope'
  | 'event'
  | 'rate'
  | 'connection'
  | 'table'
  | 'column'
  | 'sort'
  | 'filter'
  | 'action'
  | EmbeddedKind

interface NamesContext {
  /** For tables; System by default. */
  readonly connection?: string
  /** For columns. */
  readonly table?: string | undefined
  /** For columns of embedded rows: the action that they are from, and the column that refers to them or to this table. */
  readonly from?: string | undefined
  readonly by?: string | undefined
}

/** The names of a kind that the definition contains, for choices. */
export function useNames(
  kind: NameKind,
  { connection = 'System', table, from, by }: NamesContext = {},
): readonly string[] {
  const isOfTables = tableKinds.has(kind)
  const definition = useQuery({ ...definitionQuery, enabled: definedKinds.has(kind) }).data
  const tables = useQuery({ ...tablesQuery, enabled: isOfTables }).data
  const connections = useQuery({
    queryKey: ['connection'],
    queryFn: ({ signal }) => call('GET /connection', {}, signal),
    enabled: kind === 'connection',
  }).data
  const scopes = useScopes().data
  if (kind === 'connection') return connections?.entry.map(({ name }) => name) ?? []
  if (kind === 'scope') return scopes?.entry.map(({ name }) => name).filter((name) => !isBackendScope(name)) ?? []
  if (!isOfTables) return definition === undefined ? [] : listDefined(definition, kind as DefinedKind)
  const inConnection = tables?.entry.filter((one) => one.connection === connection) ?? []
  if (kind === 'table') return inConnection.map(({ name }) => name)
  if (kind === 'reference' || kind === 'embedded')
    return listEmbedded(kind, { tables: inConnection, actions: definition?.actions ?? [] }, { table, from, by })
  return inConnection.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? []
}

/** What tables have, and what is found in the definition. */
const tableKinds: ReadonlySet<NameKind> = new Set(['table', 'column', 'sort', 'filter', 'reference', 'embedded'])
const definedKinds: ReadonlySet<NameKind> = new Set(['schema', 'event', 'rate', 'action', 'reference', 'embedded'])

type DefinedKind = Exclude<NameKind, EmbeddedKind | 'table' | 'column' | 'sort' | 'filter' | 'connection' | 'scope'>

function listDefined(definition: Definition, kind: DefinedKind): readonly string[] {
  switch (kind) {
    case 'schema':
      return definition.schemas.map(({ name }) => name)
    case 'event':
      return definition.events.map(({ name }) => name)
    case 'rate':
      return definition.rates.map(({ name }) => name)
    case 'action':
    default:
      return definition.actions.flatMap(({ kind: of, name }) => (of === 'class' ? [] : [name]))
  }
}

interface PickerProps extends FieldProps, NamesContext {
  readonly kind: NameKind
}

/** Chooses one name of a kind. */
export function NamePicker({ kind, connection, table, from, by, ...field }: PickerProps) {
  const names = useNames(kind, { ...(connection === undefined ? {} : { connection }), table, from, by })
  return <SelectField {...field} options={names} />
}

/** Chooses several names of a kind. */
export function NamesPicker({ kind, ...field }: PickerProps) {
  return kind === 'scope' ? <ScopesPicker {...field} /> : <OtherNames kind={kind} {...field} />
}

function OtherNames({ kind, connection, table, from, by, ...field }: PickerProps) {
  const names = useNames(kind, { ...(connection === undefined ? {} : { connection }), table, from, by })
  return <ListField {...field} options={names} />
}

interface SchemaPickerProps extends FieldProps {
  /** What edits a schema that is defined in place. */
  readonly children?: ReactNode
}

const inline = ' inline' // not a name

/** Chooses a schema by name. A schema that is defined in place stays, and `children` edit it. */
export function SchemaPicker({ children, ...field }: SchemaPickerProps) {
  const { edit, at } = field
  const names = useNames('schema')
  const value = edit.get(at)
  if (!isMap(value) && typeof value !== 'boolean') return <SelectField {...field} options={names} />
  const shown = {
    ...edit,
    get: () => inline,
    set: (_at: string, next: unknown) => next !== inline && edit.set(at, next),
  }
  return (
    <div className="stack-small">
      <SelectField {...field} edit={shown} options={[{ value: inline, label: texts.inline }, ...names]} />
      {children}
    </div>
  )
}

/** Chooses scopes of the project, and declares new ones in the same save. */
export function ScopesPicker(field: FieldProps) {
  const { edit, at } = field
  const [isAdding, setAdding] = useState(false)
  const known = useNames('scope')
  const { list, change } = listOf(field)
  const choices = useChoices(() => [...new Set([...known, ...list])], list)
  // A list may also be written as one text, with commas or a variable.
  if (typeof edit.get(at) === 'string') return <ListField {...field} />
  return (
    <div className="with-button">
      <MultiSelect
        {...inputProps(field)}
        {...(list.length > 0 ? { placeholder: '' } : {})}
        className="grow"
        {...choices}
        value={[...list]}
        searchable
        nothingFoundMessage={fieldTexts.noOptions}
        onChange={change}
      />
      <Button variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>
        {texts.newScope}
      </Button>
      {isAdding ? (
        <NameEntry
          kind="scope"
          title={texts.newScope.replace('…', '')}
          action={texts.addScope}
          nameText={scopeTexts.nameText}
          description={texts.scopeText}
          onClose={() => setAdding(false)}
          onSave={(name, description) => {
            edit.set(pointerOf('scope', name), description === '' ? {} : { description })
            change([...list, name])
            setAdding(false)
          }}
        />
      ) : null}
    </div>
  )
}

interface AddingPickerProps extends Omit<FieldProps, 'children'> {
  readonly kind: 'rate' | 'event'
  /** The text of the button that adds an entry. */
  readonly button: string
  /** The dialog that adds an entry to the edit. */
  children(close: () => void): ReactNode
}

/** Chooses one name of a kind, and adds a new entry in the same save. */
export function AddingPicker({ kind, button, children, ...field }: AddingPickerProps) {
  const { edit, at } = field
  const [isAdding, setAdding] = useState(false)
  const known = useNames(kind)
  const value = edit.get(at)
  const isAdded = typeof value === 'string' && edit.get(pointerOf(kind, value)) !== undefined
  return (
    <div className="with-button">
      <SelectField {...field} options={isAdded ? [...new Set([...known, value])] : known} />
      <Button variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>
        {button}
      </Button>
      {isAdding ? children(() => setAdding(false)) : null}
    </div>
  )
}

interface VariableMenuProps {
  /** Whether the value is a secret: a new variable then hides what is typed. */
  readonly isSecret: boolean
  /** The pointer of the field, which suggests a name. */
  readonly at: string
  /** What was typed in the field. */
  readonly typed: unknown
  onChoose(reference: string): void
}

/** Inserts a reference to a variable, `${env.NAME}`, and sets new ones. */
export function VariableMenu({ isSecret, at, typed, onChoose }: VariableMenuProps) {
  const [isAdding, setAdding] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const variables = useQuery({
    queryKey: ['variable'],
    queryFn: ({ signal }) => call('GET /variable', {}, signal),
    enabled: isOpen,
  }).data
  return (
    <>
      <Menu opened={isOpen} onChange={setOpen}>
        <Menu.Target>
          <Tooltip label={fieldTexts.variable}>
            <ActionIcon aria-label={fieldTexts.variable} size={24}>
              <Braces size={14} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Menu.Target>
        <Menu.Dropdown>
          {variables?.entry.map(({ name }) => (
            <Menu.Item key={name} onClick={() => onChoose(`\${env.${name}}`)}>
              <code translate="no">{name}</code>
            </Menu.Item>
          ))}
          {variables?.entry.length === 0 ? <Menu.Label>{fieldTexts.noVariables}</Menu.Label> : null}
          <Menu.Divider />
          <Menu.Item leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>
            {fieldTexts.newVariable}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAdding ? (
        <NewVariable
          isSecret={isSecret}
          suggested={suggestVariable(at)}
          typed={typeof typed === 'string' && !typed.includes('${env.') ? typed : ''}
          onAdd={onChoose}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </>
  )
}

/** `/connection/Shop/config/auth/bearer` is SHOP_BEARER. */
function suggestVariable(at: string): string {
  const keys = keysOf(at)
  const words = [keys[1] ?? '', keys.at(-1) ?? ''].join('_').replaceAll(/[^A-Za-z0-9]+/g, '_')
  return words.toUpperCase().replace(/^(?=\d)|^_+/, 'V_')
}

interface NewVariableProps {
  readonly isSecret: boolean
  readonly suggested: string
  readonly typed: string
  onAdd(reference: string): void
  onClose(): void
}

function NewVariable({ isSecret, suggested, typed, onAdd, onClose }: NewVariableProps) {
  const queries = useQueryClient()
  const isServer = useServerDraft() !== undefined
  const [name, setName] = useState(suggested)
  const [value, setValue] = useState(typed)
  const Input = isSecret ? PasswordInput : TextInput
  return (
    <FormDialog
      title={variableTexts.title}
      action={variableTexts.add}
      onSave={async () => {
        const stored = await call('PUT /draft/variable/:name', { params: { name }, body: { value } })
        await queries.invalidateQueries({ queryKey: ['variable'] })
        onAdd(`\${env.${stored.name}}`)
      }}
      onSaved={onClose}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            label={variableTexts.name}
            description={variableTexts.nameHint}
            name="name"
            className="mono-input"
            data-autofocus
            required
            error={errorOf('name')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_'))}
          />
          <Input
            label={variableTexts.value}
            description={isServer ? variableTexts.stagedHint : variableTexts.valueHint}
            name="value"
            autoComplete="off"
            error={errorOf('value')}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
