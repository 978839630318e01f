import { Autocomplete, Button, Checkbox, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call, type Answer, type Input } from '../api/call.ts'
import { announce } from '../components/announce.tsx'
import { MethodBadge } from '../components/badge.tsx'
import { CodeBlock } from '../components/copy.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { DiffView } from '../edit/diff-view.tsx'
import { lastSave, refreshDraft } from '../edit/draft.ts'
import { ChoiceSelect, useChoices } from '../edit/choices.tsx'
import { useNames } from '../edit/pickers.tsx'
import { tableEditor } from '../strings/table-editor.ts'
import type { Design } from './table-state.ts'

const { api: texts } = tableEditor
type Body = Input<'POST /draft/table-api'> extends { body: infer Value } ? Value : never
type Method = Body['methods'][number]

interface TableApiProps {
  readonly connection: string
  readonly design: Design
  onClose(): void
  onSaved(): void
}

interface ApiState {
  readonly path: string
  readonly methods: readonly {
    readonly method: Method['method']
    readonly at: Method['at']
    readonly isOn: boolean
    readonly access: string
  }[]
  readonly scope: string
  readonly description: string
  readonly owner: string
  /** Columns that may refer to rows of all users. */
  readonly openParents: readonly string[]
  readonly softDelete: string
  readonly hasEvent: boolean
  readonly event: string
  readonly holders: string
}

const isPublic = 'public'
const anyToken = 'any'
/** The access of methods that follow the scope of the sheet. */
const ofScope = 'scope'
/** The server chooses who may subscribe. */
const byDefault = ''

/** Makes a table an API in one sheet: access, owner, deletion and event, with the files that will be written. */
export function TableApi({ connection, design, onClose, onSaved }: TableApiProps) {
  const queries = useQueryClient()
  const [state, setState] = useState(() => propose(design))
  const known = useNames('scope')
  const scopeChoices = useChoices(() => known)
  const set = (part: Partial<ApiState>) => setState({ ...state, ...part })
  const isNewScope = state.scope !== '' && !known.includes(state.scope)
  const body = makeBody(state, { connection, table: design.name, known })
  const missing = findMissing(state, body)
  const isIncomplete = body.methods.length === 0 || Object.values(missing).includes(true)
  const [isSaving, setSaving] = useState(false)
  // Show no errors for fields that are still empty. After saving, the routes exist.
  const preview = usePreview(isIncomplete ? undefined : body, !isSaving)
  const owners = design.columns.filter(
    ({ type, name }) => (type === 'uuid' || type === 'text') && /user|owner|account|author/i.test(name),
  )
  const own = owners.length > 0 ? owners : design.columns.filter(({ type }) => type === 'uuid')
  const parents = useParents(preview.data?.parents)
  const through = parents.filter(({ problem }) => problem === null).map(({ column }) => column)
  const [first] = through
  // Only the server knows which rows have an owner.
  const [isChosen, setChosen] = useState(state.owner !== '')
  useEffect(() => {
    if (!isChosen && first !== undefined) setState((now) => ({ ...now, owner: first }))
  }, [isChosen, first])
  const chooseOwner = (owner: string) => {
    setChosen(true)
    set({ owner, openParents: state.openParents.filter((column) => column !== owner) })
  }
  const count = body.methods.length
  return (
    <Dialog title={texts.title(design.name)} size={1040} onClose={onClose}>
      <SaveForm
        action={texts.create(count)}
        isIncomplete={isIncomplete}
        onCancel={onClose}
        onSave={async () => {
          setSaving(true)
          const { saved } = await call('POST /draft/table-api', { body: { ...body, preview: false } }).catch(
            (error: unknown) => {
              setSaving(false)
              throw error
            },
          )
          if (saved !== null)
            lastSave.set(saved, { entries: [{ name: state.path, fields: [] }], pages: [['routes', state.path]] })
          await refreshDraft(queries)
          announce(texts.created(count))
        }}
        onSaved={onSaved}
      >
        {() => (
          <div className="table-api">
            <div className="stack">
              <TextInput
                label={texts.path}
                {...(missing.path ? { description: texts.pathMissing } : {})}
                name="path"
                className="mono-input"
                data-autofocus
                value={state.path}
                onChange={(event) => set({ path: event.currentTarget.value.trim() })}
              />
              <Autocomplete
                label={texts.scope}
                description={missing.scope ? texts.scopeMissing : texts.scopeText}
                name="scope"
                className="mono-input"
                {...scopeChoices}
                value={state.scope}
                onChange={(scope) => set({ scope: scope.trim() })}
              />
              {isNewScope ? (
                <TextInput
                  label={texts.newScope(state.scope)}
                  placeholder={texts.newScopePlaceholder}
                  dir="auto"
                  value={state.description}
                  onChange={(event) => set({ description: event.currentTarget.value })}
                />
              ) : null}
              <Methods
                state={state}
                known={known}
                rowKey={rowKeyOf(design) ?? ''}
                onChange={(methods) => set({ methods })}
              />
              <Owner
                own={own.map(({ name }) => name)}
                parents={parents}
                state={state}
                onOwner={chooseOwner}
                onOpen={(openParents) => set({ openParents })}
              />
              {softDeletes(design).length === 0 ? null : (
                <Radio.Group
                  label={texts.delete}
                  value={state.softDelete}
                  onChange={(softDelete) => set({ softDelete })}
                >
                  <div className="stack-small radio-list">
                    {softDeletes(design).map((name) => (
                      <Radio key={name} value={name} label={texts.softDelete(name)} />
                    ))}
                    <Radio value="" label={texts.deleteRow} />
                  </div>
                </Radio.Group>
              )}
              <fieldset>
                <Checkbox
                  label={texts.event}
                  checked={state.hasEvent}
                  onChange={(event) => set({ hasEvent: event.currentTarget.checked })}
                />
                {state.hasEvent ? (
                  <div className="two-fields">
                    <TextInput
                      label={texts.eventName}
                      {...(missing.event ? { description: texts.eventMissing } : {})}
                      className="mono-input"
                      value={state.event}
                      onChange={(event) => set({ event: event.currentTarget.value.trim() })}
                    />
                    <ChoiceSelect
                      label={texts.eventFor}
                      choices={[
                        { value: byDefault, label: state.owner === '' ? state.scope : `${state.scope}.events` },
                        ...(state.owner === '' ? [] : [{ value: ofScope, label: state.scope }]),
                        ...known.filter((name) => name !== state.scope).map((name) => ({ value: name, label: name })),
                        { value: anyToken, label: texts.everyone },
                      ]}
                      value={state.holders}
                      onChange={(holders) => set({ holders })}
                    />
                  </div>
                ) : null}
                {state.hasEvent && state.owner !== '' ? <p className="soft small">{texts.eventOfAll}</p> : null}
              </fieldset>
            </div>
            <section className="stack-small api-preview">
              <h3>{texts.preview}</h3>
              {preview.error === null ? null : <ProblemAlert error={preview.error} />}
              {preview.data?.index ? (
                <MissingIndex connection={connection} design={design} columns={preview.data.index} />
              ) : null}
              {preview.data?.warnings.map((warning) => (
                <p key={warning} className="warnings">
                  {warning}
                </p>
              ))}
              {preview.data === undefined && preview.error === null ? <p className="soft">{texts.wait}</p> : null}
              {preview.data?.files.map(({ file, before, text }) => (
                <div key={file}>
                  <p className="mono">
                    {file} {before === null ? <span className="soft">{texts.newFile}</span> : null}
                  </p>
                  {before === null ? (
                    <CodeBlock code={text ?? ''} label={file} />
                  ) : (
                    <DiffView label={file} before={before} after={text ?? ''} />
                  )}
                </div>
              ))}
            </section>
          </div>
        )}
      </SaveForm>
    </Dialog>
  )
}

type Parent = Answer<'POST /draft/table-api'>['parents'][number]

/** The references to rows with an owner. While the preview is planned again, they are those of the last one. */
function useParents(loaded: readonly Parent[] | undefined): readonly Parent[] {
  const [last, setLast] = useState<readonly Parent[]>([])
  useEffect(() => {
    if (loaded !== undefined) setLast(loaded)
  }, [loaded])
  return loaded ?? last
}

interface OwnerProps {
  /** The columns that may contain the id of a user. */
  readonly own: readonly string[]
  readonly parents: readonly Parent[]
  readonly state: ApiState
  onOwner(column: string): void
  onOpen(columns: readonly string[]): void
}

/** Whose rows they are, and which rows of others they may refer to. */
function Owner({ own, parents, state: { owner, openParents }, onOwner, onOpen }: OwnerProps) {
  const through = parents.filter(({ column, problem }) => problem === null && !own.includes(column))
  const choices = [
    ...own.map((value) => ({ value, label: texts.ownerOf(value) })),
    ...through.map(({ column, table }) => ({ value: column, label: texts.ownerThrough(column, table) })),
  ]
  const others = parents.filter(({ column }) => column !== owner)
  return (
    <fieldset className="stack-small">
      <Checkbox
        label={texts.owner}
        description={choices.length === 0 ? texts.noOwner : texts.ownerText}
        disabled={choices.length === 0}
        checked={owner !== ''}
        onChange={(event) => onOwner(event.currentTarget.checked ? (choices[0]?.value ?? '') : '')}
      />
      {owner === '' || (choices.length < 2 && through.length === 0) ? null : (
        <NativeSelect
          label={texts.ownerColumn}
          data={choices}
          value={owner}
          onChange={(event) => onOwner(event.currentTarget.value)}
        />
      )}
      {parents.map(({ column, table, problem }) =>
        problem === null ? null : (
          <p key={column} className="soft small">
            {texts.noThrough(table, problem)}
          </p>
        ),
      )}
      {others.length > 0 ? <p className="soft small">{texts.ownerOfReferences}</p> : null}
      {others.map(({ column, table, method }) => (
        <Checkbox
          key={column}
          label={texts.openParent(column, table)}
          description={texts.openParentText(method)}
          checked={openParents.includes(column)}
          onChange={(event) =>
            onOpen(
              event.currentTarget.checked ? [...openParents, column] : openParents.filter((name) => name !== column),
            )
          }
        />
      ))}
    </fieldset>
  )
}

interface MissingIndexProps {
  readonly connection: string
  readonly design: Design
  readonly columns: readonly string[]
}

/** Offers the index that the list needs. */
function MissingIndex({ connection, design, columns }: MissingIndexProps) {
  const queries = useQueryClient()
  const adding = useMutation({
    mutationFn: async () => {
      const body = { connection, table: design.name, design: { ...design, index: [...design.index, [...columns]] } }
      const done = await call('POST /draft/migration', { body: { ...body, preview: false } })
      const { problems, failed, saved } = done
      const problem = problems[0]?.message ?? failed
      if (problem !== null) throw new Error(problem)
      if (saved !== null) {
        const about = { entries: [{ name: design.name, fields: ['index'] }], pages: [] }
        lastSave.set(saved, about, done.can_undo)
      }
      await refreshDraft(queries)
      announce(texts.indexAdded)
    },
  })
  return (
    <div className="note stack-small">
      <p>{texts.noIndex}</p>
      <div>
        <Button variant="default" loading={adding.isPending} onClick={() => adding.mutate()}>
          {texts.addIndex(columns.join(', '))}
        </Button>
      </div>
      {adding.isError ? <ProblemAlert error={adding.error} /> : null}
    </div>
  )
}

interface MethodsProps {
  readonly state: ApiState
  readonly known: readonly string[]
  /** The column that identifies a row in paths. */
  readonly rowKey: string
  onChange(methods: ApiState['methods']): void
}

function Methods({ state, known, rowKey, onChange }: MethodsProps) {
  const { methods, path, scope, owner } = state
  return (
    <fieldset>
      <legend>{texts.methods}</legend>
      {methods.map((one, index) => {
        const place = one.at === 'list' ? path : `${path}/:${rowKey}`
        const label = `${one.method} ${place}`
        const set = (part: Partial<(typeof methods)[number]>) =>
          onChange(methods.map((other, at) => (at === index ? { ...other, ...part } : other)))
        return (
          <div key={`${one.at} ${one.method}`} className="api-method">
            <Checkbox
              aria-label={label}
              checked={one.isOn}
              onChange={(event) => set({ isOn: event.currentTarget.checked })}
            />
            <MethodBadge method={one.method} />
            <span className="api-place">
              <bdi className="mono">{place}</bdi>{' '}
              <span className="soft">
                {texts.operations[`${one.at} ${one.method}` as keyof typeof texts.operations]}
              </span>
            </span>
            <NativeSelect
              aria-label={texts.accessOf(label)}
              disabled={!one.isOn}
              data={[
                ...(owner === '' ? [{ value: isPublic, label: texts.public }] : []),
                { value: ofScope, label: texts.tokensWith(scope) },
                ...known
                  .filter((name) => name !== scope)
                  .map((name) => ({ value: `=${name}`, label: texts.tokensWith(name) })),
                { value: anyToken, label: texts.anyToken },
              ]}
              value={owner !== '' && one.access === isPublic ? ofScope : one.access}
              onChange={(event) => set({ access: event.currentTarget.value })}
            />
          </div>
        )
      })}
    </fieldset>
  )
}

/** The column that identifies a row; undefined if there are several. */
function rowKeyOf({ columns, key }: Design): string | undefined {
  return columns.find(({ type }) => type === 'id')?.name ?? (key.length === 1 ? key[0] : undefined)
}

/** Reading is public unless rows have an owner, DELETE sets a status if there is one. */
function propose(design: Design): ApiState {
  const resource = design.name
    .toLowerCase()
    .replace(/^app_(?=.)/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
  const methods = [
    ...(['GET', 'POST'] as const).map((method) => ({ method, at: 'list' as const })),
    ...(rowKeyOf(design) !== undefined
      ? (['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ method, at: 'row' as const }))
      : []),
  ]
  return {
    path: `/${resource}`,
    methods: methods.map((one) => ({
      ...one,
      isOn: one.method !== 'PATCH',
      access: one.method === 'GET' ? isPublic : ofScope,
    })),
    scope: resource,
    description: `Read and change ${resource}`,
    owner:
      design.columns.find(({ name, type }) => /^(user|owner)_id$/.test(name) && (type === 'uuid' || type === 'text'))
        ?.name ?? '',
    openParents: [],
    softDelete: softDeletes(design)[0] ?? '',
    hasEvent: false,
    event: `${resource.replaceAll('-', '_')}_created`,
    holders: byDefault,
  }
}

function softDeletes({ columns }: Design): readonly string[] {
  return columns.flatMap(({ name, type, null: isNullable }) => {
    const isMark =
      (/^(status|state)$/.test(name) && type === 'integer') ||
      (/delet|archiv|active/.test(name) && (type === 'boolean' || (type === 'timestamp' && isNullable === true)))
    return isMark ? [name] : []
  })
}

function makeBody(
  state: ApiState,
  {
    connection,
    table,
    known,
  }: { readonly connection: string; readonly table: string; readonly known: readonly string[] },
): Omit<Body, 'preview'> {
  const { path, methods, scope, description, owner, openParents, softDelete, hasEvent, event, holders } = state
  const scopesOf = (access: string) =>
    access === anyToken || access === isPublic ? [] : [access === ofScope ? scope : access.replace(/^=/, '')]
  const chosen = methods.filter(({ isOn }) => isOn)
  const used = chosen.some(({ access }) => access === ofScope || (owner !== '' && access === isPublic))
  const isUsed = used || (hasEvent && (holders === ofScope || (holders === byDefault && owner === '')))
  return {
    connection,
    table,
    path,
    methods: chosen.map(({ method, at, access }) => {
      const isOpen = access === isPublic && owner === ''
      return { method, at, public: isOpen, scopes: isOpen ? [] : scopesOf(access === isPublic ? ofScope : access) }
    }),
    ...(owner !== '' && { owner }),
    ...(openParents.length > 0 && { open_parents: [...openParents] }),
    ...(softDelete !== '' && { soft_delete: softDelete }),
    ...(hasEvent && {
      event: { name: event, description: '', ...(holders !== byDefault && { scopes: scopesOf(holders) }) },
    }),
    new_scopes: isUsed && scope !== '' && !known.includes(scope) ? [{ name: scope, description }] : [],
  }
}

/** The fields that are required to make anything. */
function findMissing({ path, scope, hasEvent, event }: ApiState, { methods, event: made }: Omit<Body, 'preview'>) {
  const used = [...methods, ...(made === undefined ? [] : [made])].flatMap(({ scopes = [] }) => scopes)
  const hasOwnScope = hasEvent && made?.scopes === undefined
  return {
    path: !/^\/./.test(path),
    scope: scope === '' && (used.includes('') || hasOwnScope),
    event: hasEvent && event === '',
  }
}

const previewMs = 300

/** The files of the last complete body. */
function usePreview(body: Omit<Body, 'preview'> | undefined, isActive: boolean) {
  const text = body && JSON.stringify(body)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    if (text === undefined) return undefined
    const timer = setTimeout(() => setSettled(text), previewMs)
    return () => clearTimeout(timer)
  }, [text])
  return useQuery({
    queryKey: ['table-api', settled],
    queryFn: ({ signal }) =>
      call(
        'POST /draft/table-api',
        { body: { ...(JSON.parse(settled!) as Omit<Body, 'preview'>), preview: true } },
        signal,
      ),
    enabled: isActive && settled !== undefined,
    retry: false,
    gcTime: 0,
  })
}
