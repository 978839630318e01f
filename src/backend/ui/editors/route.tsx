import { Button, Input, NativeSelect, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { definitionQuery, nameOf } from '../api/definition.ts'
import type { Answer } from '../api/call.ts'
import { RouteTitle } from '../components/badge.tsx'
import { Access, Source } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { Traffic } from '../components/traffic.tsx'
import { TryIt } from '../components/try-it.tsx'
import { useDraftValue, useServerDraft } from '../edit/draft.ts'
import { useDraftEdit, type DraftEdit } from '../edit/draft-edit.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { DeleteEntry, RenameEntry } from '../edit/entry-dialogs.tsx'
import { TextField, type FieldProps } from '../edit/fields.tsx'
import { SchemaPicker, ScopesPicker, useNames } from '../edit/pickers.tsx'
import { SchemaEditor } from '../edit/schema-editor.tsx'
import { SchemaField, SchemaSheet, useNamedSchemas } from '../edit/schema-field.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { PublishToTry } from '../publish/publish-to-try.tsx'
import { ActionField } from './action-field.tsx'
import { EventPicker } from './event-picker.tsx'
import { NewSchema } from './new-schema.tsx'
import { RatePicker } from './rate.tsx'
import { entryTexts } from '../edit/entry-texts.ts'
import {
  accessTexts,
  actionTexts,
  moreTexts,
  removeTexts,
  renameTexts,
  requestTexts,
  responsesTexts,
  routeEditorTexts,
  schemaTexts,
} from './route-texts.ts'
import { routeTexts } from '../pages/route-texts.ts'

interface RouteEditorProps {
  /** `POST /todo` */
  readonly name: string
  /** The method as it is served; undefined while it is not. */
  readonly served: Answer<'GET /release/:id/method'> | undefined
}

/** The places of a method in waypost.yml. */
function placesOf(method: string, path: string) {
  const route = pointerOf('routes', path)
  return { route, method: `${route}${pointerOf('methods', method)}`, params: `${route}/path` }
}

/** The editor of a method and of what its path shares with other methods. */
export function RouteEditor({ name, served }: RouteEditorProps) {
  const [method = '', path = ''] = name.split(' ')
  const at = placesOf(method, path)
  const [sheets, setSheets] = useState<readonly string[]>([])
  const [sheet, setSheet] = useState<string>()
  const shared = [at.params, `${at.route}/scopes`, `${at.route}/rate`, `${at.route}/deprecated`]
  const edit = useDraftEdit([at.method, ...shared, ...sheets.map((one) => pointerOf('schema', one))])
  const [dialog, setDialog] = useState<'delete' | 'rename'>()
  const isServer = useServerDraft() !== undefined
  const navigate = useNavigate()
  if (!edit.isLoading && edit.loadError === undefined && edit.before() === undefined)
    return (
      <EmptyState
        title={routeTexts.notFound}
        text={routeTexts.notFoundText}
        link={{ to: '/routes', label: routeTexts.back }}
      />
    )
  const openSchema = (schema: string) => {
    setSheets((known) => (known.includes(schema) ? known : [...known, schema]))
    setSheet(schema)
  }
  return (
    <>
      <PageHeader title={<RouteTitle method={method} path={path} />} text={<Source value={edit.sourceOf() ?? null} />}>
        <Button variant="default" onClick={() => setDialog('rename')}>
          {renameTexts.open}
        </Button>
        <Button variant="default" onClick={() => setDialog('delete')}>
          {entryTexts.delete(name)}
        </Button>
      </PageHeader>
      <EditTabs
        edit={edit}
        at={at.method}
        more={[
          ...(isServer
            ? [{ name: 'try', label: routeTexts.tabs.try, content: <PublishToTry name={name} /> }]
            : served === undefined
              ? []
              : [{ name: 'try', label: routeTexts.tabs.try, content: <TryIt key={name} method={served} /> }]),
          { name: 'traffic', label: routeTexts.tabs.traffic, content: <Traffic route={name} /> },
        ]}
      >
        <div className="form form-wide page-sections">
          <TextField edit={edit} at={`${at.method}/description`} label={routeEditorTexts.description} isLong />
          <AccessSection edit={edit} method={method} path={path} served={served} />
          <Section title={actionTexts.title}>
            <ActionField edit={edit} at={`${at.method}/action`} route={name} />
          </Section>
          <RequestSection edit={edit} method={method} path={path} served={served} onOpen={openSchema} />
          <ResponseSection edit={edit} at={at.method} served={served} onOpen={openSchema} />
          <MoreSection edit={edit} method={method} path={path} />
        </div>
      </EditTabs>
      {sheet === undefined || edit.isLoading ? null : (
        <SchemaSheet edit={edit} at={pointerOf('schema', sheet)} label={sheet} onClose={() => setSheet(undefined)} />
      )}
      {dialog === 'delete' ? <DeleteMethod name={name} served={served} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'rename' ? (
        <RenameEntry
          at={at.route}
          text={renameTexts.text}
          onRenamed={(to) => navigate({ to: '/routes/$route', params: { route: `${method} ${to}` } })}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </>
  )
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="stack">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

interface PartProps {
  readonly edit: DraftEdit
  readonly method: string
  readonly path: string
}

type AccessKind = keyof typeof accessTexts.kinds

function AccessSection({ edit, method, path, served }: PartProps & Pick<RouteEditorProps, 'served'>) {
  const at = placesOf(method, path)
  const [chosen, setChosen] = useState<AccessKind>()
  const routeScopes = edit.get(`${at.route}/scopes`)
  const kind = chosen ?? accessOf(edit.get(at.method), routeScopes)
  const kinds = Object.keys(accessTexts.kinds) as AccessKind[]
  const choose = (next: AccessKind) => {
    setChosen(next)
    const before = edit.before(at.method)
    const hadPublic = isMap(before) && Object.hasOwn(before, 'public')
    edit.set(
      `${at.method}/public`,
      next === 'public' ? true : hadPublic && before['public'] !== true ? false : undefined,
    )
    const own = isMap(before) && accessOf(before, routeScopes) === 'scopes' ? before['scopes'] : undefined
    edit.set(`${at.method}/scopes`, next === 'any' ? [] : next === 'scopes' ? own : undefined)
  }
  const isUnchanged =
    served !== undefined && kind === accessOf(edit.before(at.method), edit.before(`${at.route}/scopes`))
  return (
    <Section title={accessTexts.title}>
      <Input.Wrapper label={accessTexts.kind} labelElement="div">
        <div data-at={`${at.method}/public`}>
          <SegmentedControl
            aria-label={accessTexts.kind}
            value={kind}
            data={kinds
              .filter((one) => one !== 'route' || routeScopes !== undefined || kind === 'route')
              .map((one) => ({ value: one, label: accessTexts.kinds[one] }))}
            onChange={choose}
          />
        </div>
      </Input.Wrapper>
      {kind === 'public' ? (
        <p className="soft">{method === 'GET' ? accessTexts.public : accessTexts.publicChange}</p>
      ) : null}
      {kind === 'any' ? <p className="soft">{accessTexts.any}</p> : null}
      {kind === 'scopes' ? (
        <ScopesPicker
          edit={{ ...edit, set: (place, next) => edit.set(place, isNoScope(next) ? undefined : next) }}
          at={`${at.method}/scopes`}
          label={accessTexts.scopes}
          description={accessTexts.scopesText}
          isRequired
        />
      ) : null}
      {kind === 'route' ? (
        <ScopesPicker
          edit={edit}
          at={`${at.route}/scopes`}
          label={accessTexts.routeScopes(path)}
          description={accessTexts.routeScopesText}
          isRequired
        />
      ) : null}
      {isUnchanged && kind !== 'public' ? (
        <p className="soft">
          {accessTexts.now} <Access {...served} />
        </p>
      ) : null}
    </Section>
  )
}

/** Without a scope, a method would accept any valid token. */
function isNoScope(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function accessOf(method: unknown, routeScopes: unknown): AccessKind {
  if (!isMap(method)) return 'route'
  if (method['public'] === true) return 'public'
  const { scopes } = method
  if (scopes === undefined) return routeScopes === undefined ? 'scopes' : 'route'
  return isNoScope(scopes) ? 'any' : 'scopes'
}

interface SchemaChoiceProps extends FieldProps {
  /** The response has no body, such as 204. */
  readonly isBodyless?: boolean
  onOpen(schema: string): void
  onRemove?(): void
}

/** A schema by name, defined in place, or new. */
function SchemaChoice({ onOpen, onRemove, isBodyless: hasNoBody = false, ...field }: SchemaChoiceProps) {
  const { edit, at, label } = field
  const [isAdding, setAdding] = useState(false)
  const value = edit.get(at)
  const names = useNames('schema')
  const remove =
    onRemove === undefined ? null : (
      <Button variant="subtle" aria-label={responsesTexts.remove(label)} onClick={onRemove}>
        {responsesTexts.removeShort}
      </Button>
    )
  if (hasNoBody)
    return (
      <div className="button-row">
        <span>
          {label}: <span className="soft">{responsesTexts.noBody}</span>
        </span>
        {remove}
      </div>
    )
  return (
    <div className="stack-small">
      <SchemaPicker {...field}>
        <SchemaField edit={edit} at={at} label={label} />
      </SchemaPicker>
      <div className="button-row">
        {typeof value === 'string' && names.includes(value) ? (
          <Button variant="subtle" onClick={() => onOpen(value)}>
            {schemaTexts.edit(value)}
          </Button>
        ) : null}
        {isMap(value) ? null : (
          <Button variant="subtle" onClick={() => edit.set(at, { type: 'object' })}>
            {schemaTexts.inPlace}
          </Button>
        )}
        <Button variant="subtle" leftSection={<Plus size={14} aria-hidden />} onClick={() => setAdding(true)}>
          {schemaTexts.new}
        </Button>
        {remove}
      </div>
      {isAdding ? <NewSchema onAdd={(name) => edit.set(at, name)} onClose={() => setAdding(false)} /> : null}
    </div>
  )
}

/** Whether the action itself says what requests and responses are, such as one for a table. */
function isFromAction(served: RouteEditorProps['served'], part: 'request' | 'responses'): boolean {
  if (served === undefined || served.action.kind === 'file') return false
  return part === 'request' ? served.request !== undefined : Object.keys(served.responses).length > 0
}

interface SchemasProps extends Pick<RouteEditorProps, 'served'> {
  onOpen(schema: string): void
}

function RequestSection({ edit, method, path, served, onOpen }: PartProps & SchemasProps) {
  const at = placesOf(method, path)
  const names = path.split('/').flatMap((step) => (step.startsWith(':') ? [step.slice(1)] : []))
  const query = `${at.method}/parameters`
  return (
    <Section title={requestTexts.title}>
      {names.length === 0 ? null : <Parameters edit={edit} at={at.params} label={requestTexts.path} required={names} />}
      {edit.get(query) === undefined ? (
        <div>
          <Button
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => edit.set(query, { page: { type: 'integer', minimum: 0 } })}
          >
            {requestTexts.addQuery}
          </Button>
        </div>
      ) : (
        <Parameters edit={edit} at={query} label={requestTexts.query} />
      )}
      {method === 'GET' ? null : (
        <SchemaChoice
          edit={edit}
          at={`${at.method}/request`}
          label={requestTexts.body}
          description={requestTexts.bodyText}
          fallback={
            edit.before(`${at.method}/request`) === undefined && isFromAction(served, 'request')
              ? requestTexts.ofAction(served?.action.name ?? '')
              : requestTexts.anyBody
          }
          onOpen={onOpen}
        />
      )}
    </Section>
  )
}

interface ParametersProps {
  readonly edit: DraftEdit
  readonly at: string
  readonly label: string
  /** Path parameters: all are required. */
  readonly required?: readonly string[]
}

/** Parameters are a map of name to schema, an object schema, or the name of one. */
function Parameters({ edit, at, label, required }: ParametersProps) {
  const named = useNamedSchemas()
  const value = edit.get(at)
  if (typeof value === 'string') return <SchemaPicker edit={edit} at={at} label={label} />
  const map = isMap(value) ? value : Object.fromEntries((required ?? []).map((name) => [name, { type: 'string' }]))
  const isSchema = typeof map['type'] === 'string' || Array.isArray(map['required']) || '$ref' in map
  const schema = isSchema ? map : { type: 'object', properties: map, ...(required === undefined ? {} : { required }) }
  const change = (next: unknown) => {
    if (isSchema || !isMap(next)) return edit.set(at, next)
    const properties = isMap(next['properties']) ? next['properties'] : {}
    const mustSend = Array.isArray(next['required']) && next['required'].length > 0 && required === undefined
    if (mustSend) return edit.set(at, next)
    return edit.set(at, Object.keys(properties).length === 0 ? undefined : properties)
  }
  return (
    <section className="stack-small" data-at={at} aria-label={label}>
      <SchemaEditor
        schema={schema}
        onChange={change}
        named={named}
        label={label}
        at={at}
        errorOf={(place) => edit.errorOf(isSchema ? place : place.replace(`${at}/properties`, at))}
      />
    </section>
  )
}

const statuses = [
  '200',
  '201',
  '202',
  '204',
  '400',
  '401',
  '403',
  '404',
  '409',
  '422',
  '429',
  '500',
  '503',
  '4XX',
  '5XX',
  'default',
]

function ResponseSection({
  edit,
  at,
  served,
  onOpen,
}: SchemasProps & {
  readonly edit: DraftEdit
  readonly at: string
}) {
  const all = edit.get(`${at}/responses`)
  const others = isMap(all) ? Object.keys(all).toSorted() : []
  const single = edit.get(`${at}/response`)
  const used = new Set([...others, ...(single === undefined ? [] : ['200'])])
  const places = [
    ...(single === undefined ? [] : [['200', `${at}/response`] as const]),
    ...others.map((status) => [status, `${at}/responses/${status}`] as const),
  ]
  const add = (status: string) =>
    status === '200'
      ? edit.set(`${at}/response`, { type: 'object' })
      : edit.set(`${at}/responses/${status}`, isBodyless(status) ? null : { type: 'object' })
  return (
    <Section title={responsesTexts.title}>
      {places.length === 0 && isFromAction(served, 'responses') ? (
        <p className="soft">{responsesTexts.ofAction(served?.action.name ?? '')}</p>
      ) : null}
      {places.map(([status, place]) => (
        <SchemaChoice
          key={place}
          edit={edit}
          at={place}
          label={responsesTexts.schema(status)}
          onOpen={onOpen}
          isBodyless={isBodyless(status)}
          onRemove={() =>
            edit.set(others.length === 1 && place.includes('/responses/') ? `${at}/responses` : place, undefined)
          }
        />
      ))}
      <NativeSelect
        aria-label={responsesTexts.add}
        className="align-start"
        value=""
        data={[
          { value: '', label: responsesTexts.add },
          ...statuses.filter((status) => !used.has(status)).map((status) => ({ value: status, label: status })),
        ]}
        onChange={(event) => event.currentTarget.value !== '' && add(event.currentTarget.value)}
      />
    </Section>
  )
}

function isBodyless(status: string): boolean {
  return ['204', '205', '304'].includes(status)
}

function MoreSection({ edit, method, path }: PartProps) {
  const at = placesOf(method, path)
  const routeRate = edit.get(`${at.route}/rate`)
  const responses = ['response', 'responses/201', 'responses/200', 'responses/202'].map((one) =>
    edit.get(`${at.method}/${one}`),
  )
  const isPublic = edit.get(`${at.method}/public`) === true
  return (
    <Section title={moreTexts.title}>
      <EventPicker
        edit={edit}
        at={`${at.method}/dispatch`}
        label={moreTexts.dispatch}
        description={moreTexts.dispatchText}
        schema={responses.find((one) => one !== undefined)}
        scopes={isPublic ? undefined : (edit.get(`${at.method}/scopes`) ?? edit.get(`${at.route}/scopes`))}
      />
      <RatePicker
        edit={edit}
        at={`${at.method}/rate`}
        label={moreTexts.rate}
        {...(typeof routeRate === 'string' ? { fallback: moreTexts.routeRate(routeRate) } : {})}
      />
      <TextField
        edit={edit}
        at={`${at.method}/timeout`}
        label={moreTexts.timeout}
        description={moreTexts.timeoutText}
      />
      <TextField
        edit={edit}
        at={`${at.method}/operationId`}
        label={moreTexts.operationId}
        description={moreTexts.operationIdText}
        isMono
      />
      <TextField
        edit={edit}
        at={`${at.route}/deprecated`}
        label={moreTexts.deprecated}
        description={moreTexts.deprecatedText}
      />
    </Section>
  )
}

interface DeleteMethodProps {
  readonly name: string
  readonly served: RouteEditorProps['served']
  onClose(): void
}

function DeleteMethod({ name, served, onClose }: DeleteMethodProps) {
  const navigate = useNavigate()
  const [method = '', path = ''] = name.split(' ')
  const at = placesOf(method, path)
  const route = useDraftValue(at.route).data
  const own = useDraftValue(at.method).data
  const { data } = useQuery(definitionQuery)
  const methods = isMap(route?.value) && isMap(route.value['methods']) ? Object.keys(route.value['methods']) : []
  const isLast = methods.length === 1
  const action = isMap(own?.value) ? own.value['action'] : undefined
  return (
    <DeleteEntry
      at={isLast ? at.route : at.method}
      name={name}
      calls={data?.routes.find((one) => nameOf(one) === name)?.calls ?? served?.calls ?? 0}
      onDeleted={() => navigate({ to: '/routes' })}
      onClose={onClose}
    >
      <p>{removeTexts.text}</p>
      {isLast ? <p>{removeTexts.path}</p> : null}
      {typeof action === 'string' && action.endsWith('.ts') ? <p>{removeTexts.keeps(action)}</p> : null}
    </DeleteEntry>
  )
}
