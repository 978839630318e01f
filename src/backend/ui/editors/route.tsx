import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { definitionQuery, nameOf } from '../api/definition.ts'
import { RouteTitle } from '../components/badge.tsx'
import { Source } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { Traffic } from '../components/traffic.tsx'
import { TryButton } from '../components/try-button.tsx'
import { TryIt } from '../components/try-it.tsx'
import { useDraftValue, useServerDraft } from '../edit/draft.ts'
import { useDraftEdit } from '../edit/draft-edit.ts'
import { EditTabs } from '../edit/edit-page.tsx'
import { EntryMenu } from '../edit/entry-menu.tsx'
import { DeleteEntry, RenameEntry } from '../edit/entry-dialogs.tsx'
import { ListField, SwitchField, TextField } from '../edit/fields.tsx'
import { SchemaSheet } from '../edit/schema-field.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { PublishToTry } from '../publish/publish-to-try.tsx'
import { ActionField } from './action-field.tsx'
import { DispatchFields } from './dispatch-fields.tsx'
import { RatePicker } from './rate.tsx'
import { AccessSection } from './route-access.tsx'
import { RequestSection, ResponseSection } from './route-schemas.tsx'
import { StepsSection } from './route-steps.tsx'
import { ownerOf, placesOf, placesOfShared, Section, type PartProps, type ServedMethod } from './route-section.tsx'
import { actionTexts, moreTexts, removeTexts, renameTexts, routeEditorTexts } from './route-texts.ts'
import { routeTexts } from '../pages/route-texts.ts'

/** What methods get from their path and the groups around it. */
const sharedKeys = ['scopes', 'rate', 'timeout', 'deprecated', 'steps'] as const

interface RouteEditorProps {
  /** `POST /todo` */
  readonly name: string
  readonly served: ServedMethod
  /** Whether `served` is of the release before. */
  readonly isOutdated: boolean
}

/** The editor of a method and of what its path shares with other methods. */
export function RouteEditor({ name, served, isOutdated }: RouteEditorProps) {
  const [method = '', path = ''] = name.split(' ')
  const at = placesOf(method, path)
  const [sheets, setSheets] = useState<readonly string[]>([])
  const [sheet, setSheet] = useState<string>()
  const shared = [at.params, ...sharedKeys.flatMap((key) => placesOfShared(key, path, served))]
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
        {isServer || served !== undefined ? <TryButton /> : null}
        <EntryMenu
          name={name}
          rename={renameTexts.open}
          onRename={() => setDialog('rename')}
          onDelete={() => setDialog('delete')}
        />
      </PageHeader>
      <EditTabs
        edit={edit}
        at={at.method}
        more={[
          ...(isServer
            ? [{ name: 'try', label: routeTexts.tabs.try, content: <PublishToTry name={name} /> }]
            : served === undefined
              ? []
              : [
                  {
                    name: 'try',
                    label: routeTexts.tabs.try,
                    content: <TryIt key={name} method={served} isOutdated={isOutdated} />,
                  },
                ]),
          { name: 'traffic', label: routeTexts.tabs.traffic, content: <Traffic route={name} /> },
        ]}
      >
        <div className="form form-wide page-sections">
          <TextField edit={edit} at={`${at.method}/description`} label={routeEditorTexts.description} isLong />
          <AccessSection edit={edit} method={method} path={path} served={served} />
          <Section title={actionTexts.title}>
            <ActionField edit={edit} at={`${at.method}/action`} route={name} />
          </Section>
          <StepsSection edit={edit} method={method} path={path} served={served} />
          <RequestSection edit={edit} method={method} path={path} served={served} onOpen={openSchema} />
          <ResponseSection edit={edit} at={at.method} served={served} onOpen={openSchema} />
          <MoreSection edit={edit} method={method} path={path} served={served} />
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

function MoreSection({ edit, method, path, served }: PartProps & { readonly served: ServedMethod }) {
  const at = placesOf(method, path)
  /** What applies if the method, or the path, has no value of its own. */
  const sharedOf = (key: (typeof sharedKeys)[number]) => {
    const owner = ownerOf(edit, key, { path, served })
    return { owner, value: edit.get(`${pointerOf('routes', owner)}/${key}`) }
  }
  const [rate, timeout, deprecated] = [sharedOf('rate'), sharedOf('timeout'), sharedOf('deprecated')]
  const responses = ['response', 'responses/201', 'responses/200', 'responses/202'].map((one) =>
    edit.get(`${at.method}/${one}`),
  )
  const isPublic = edit.get(`${at.method}/public`) === true
  return (
    <Section title={moreTexts.title}>
      <DispatchFields
        edit={edit}
        at={`${at.method}/dispatch`}
        schema={responses.find((one) => one !== undefined)}
        scopes={isPublic ? undefined : (edit.get(`${at.method}/scopes`) ?? sharedOf('scopes').value)}
      />
      <RatePicker
        edit={edit}
        at={`${at.method}/rate`}
        label={moreTexts.rate}
        {...(typeof rate.value === 'string' ? { fallback: moreTexts.inherited(rate.owner, rate.value) } : {})}
      />
      {method === 'GET' ? null : (
        <>
          <TextField
            edit={edit}
            at={`${at.method}/body_limit`}
            label={moreTexts.bodyLimit}
            description={moreTexts.bodyLimitText}
          />
          <SwitchField edit={edit} at={`${at.method}/raw`} label={moreTexts.raw} description={moreTexts.rawText} />
        </>
      )}
      <TextField
        edit={edit}
        at={`${at.method}/timeout`}
        label={moreTexts.timeout}
        description={moreTexts.timeoutText}
        {...(typeof timeout.value === 'string' ? { fallback: moreTexts.inherited(timeout.owner, timeout.value) } : {})}
      />
      {method === 'GET' ? <CachingFields edit={edit} at={at.method} isPublic={isPublic} /> : null}
      <SwitchField
        edit={edit}
        at={`${at.method}/compression`}
        label={moreTexts.compression}
        description={moreTexts.compressionText}
        fallback
      />
      <TextField
        edit={edit}
        at={`${at.method}/summary`}
        label={moreTexts.summary}
        description={moreTexts.summaryText}
      />
      <ListField edit={edit} at={`${at.method}/tags`} label={moreTexts.tags} description={moreTexts.tagsText} />
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
        {...(typeof deprecated.value === 'string' && deprecated.owner !== path
          ? { fallback: moreTexts.inherited(deprecated.owner, deprecated.value) }
          : {})}
      />
    </Section>
  )
}

interface CachingFieldsProps extends Pick<PartProps, 'edit'> {
  /** The pointer of the method. */
  readonly at: string
  readonly isPublic: boolean
}

function CachingFields({ edit, at, isPublic }: CachingFieldsProps) {
  const policy = `${at}/cache`
  const isCached = edit.get(policy) !== undefined
  // Without an age, the method has no cache policy. Another age then begins with what the policy was.
  const set: typeof edit.set = (pointer, value) => {
    if (value === undefined) return edit.set(policy, undefined)
    const before = edit.before(policy)
    return isCached ? edit.set(pointer, value) : edit.set(policy, { ...(isMap(before) ? before : {}), max_age: value })
  }
  return (
    <>
      <TextField
        edit={{ ...edit, set }}
        at={`${at}/cache/max_age`}
        label={moreTexts.maxAge}
        description={moreTexts.maxAgeText}
      />
      {(isCached && isPublic) || edit.get(`${policy}/public`) === true ? (
        <SwitchField
          edit={edit}
          at={`${at}/cache/public`}
          label={moreTexts.sharedCache}
          description={moreTexts.sharedCacheText}
        />
      ) : null}
    </>
  )
}

interface DeleteMethodProps {
  readonly name: string
  readonly served: ServedMethod
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
