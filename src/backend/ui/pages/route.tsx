import { Skeleton, Tabs } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { call, type ResponseOf } from '../api/call.ts'
import { Problem, loadingErrorOf } from '../api/send.ts'
import { isReplaced, keepWithin } from '../api/keep-within.ts'
import { definitionId, definitionQuery, nameOf } from '../api/definition.ts'
import { RouteTitle, State } from '../components/badge.tsx'
import { CodeBlock, Json } from '../components/copy.tsx'
import { Access, InheritedFrom, Source } from '../components/definition-parts.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { StepList } from '../components/step-list.tsx'
import { SchemaView } from '../components/schema-view.tsx'
import { Traffic } from '../components/traffic.tsx'
import { TryButton } from '../components/try-button.tsx'
import { TryIt } from '../components/try-it.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { buildTexts } from '../components/definition-texts.ts'
import { routeTexts as texts, routesTexts } from './route-texts.ts'

type Method = ResponseOf<'GET /release/:id/method'>

const tabs = ['method', 'try', 'definition', 'traffic'] as const

const RouteEditor = lazyPart(() => import('../editors/route.tsx'), 'RouteEditor')

export function Page() {
  const { route: name = '' } = useParams({ strict: false })
  const [method = '', path = ''] = name.split(' ')
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const tab = search['tab'] ?? 'method'
  const navigate = useNavigate()
  const canEdit = useCanEdit()
  const { data: definition } = useQuery({ ...definitionQuery, enabled: canEdit })
  // A method that was just added or removed in the files is not served: ask the release that has it.
  const queries = useQueryClient()
  const isDraft = definitionId(queries) === 'draft'
  const id = isDraft ? 'draft' : canEdit ? (definition?.id ?? '') : 'active'
  const found = useQuery({
    queryKey: ['method', name, id],
    enabled: !canEdit || definition?.routes.some((one) => nameOf(one) === name) === true,
    queryFn: ({ signal }) => call('GET /release/:id/method', { params: { id }, query: { method, path } }, signal),
    // The next release has the same method, perhaps changed.
    placeholderData: keepWithin(['method', name]),
  })
  const isOutdated = found.isPlaceholderData || isReplaced(queries, ['method', name, id], found.isFetching)
  if (canEdit) return <RouteEditor name={name} key={name} served={found.data} isOutdated={isOutdated} />
  const foundError = loadingErrorOf(found)
  if (foundError !== undefined) return <Missing error={foundError} onRetry={() => void found.refetch()} />
  return (
    <>
      <PageHeader
        title={<RouteTitle method={method} path={path} />}
        text={found.data?.description ?? undefined}
        action={<TryButton />}
      />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ to: '.', search: next === 'method' ? {} : { tab: next ?? '' }, replace: true })
        }
      >
        <Tabs.List aria-label={texts.label}>
          {tabs.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {texts.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="method">
          {found.data === undefined ? <Skeleton height={160} /> : <MethodTab method={found.data} />}
        </Tabs.Panel>
        <Tabs.Panel value="try">
          {found.data === undefined ? (
            <Skeleton height={160} />
          ) : (
            <TryIt key={name} method={found.data} isOutdated={isOutdated} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="definition">
          {found.data === undefined ? <Skeleton height={160} /> : <DefinitionTab method={found.data} />}
        </Tabs.Panel>
        <Tabs.Panel value="traffic">
          <Traffic route={name} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Missing({ error, onRetry }: { readonly error: Error; onRetry(): void }) {
  if (!(error instanceof Problem) || error.status !== 404) return <ProblemAlert error={error} onRetry={onRetry} />
  return <EmptyState title={texts.notFound} text={texts.notFoundText} link={{ to: '/routes', label: texts.back }} />
}

function DefinitionTab({ method: { definition, source } }: { readonly method: Method }) {
  if (definition === null || source === null) return <p className="soft">{texts.noDefinition}</p>
  return (
    <div className="stack-small">
      <Source value={source} />
      <CodeBlock code={definition} label={texts.tabs.definition} />
    </div>
  )
}

function MethodTab({ method }: { readonly method: Method }) {
  const { action, config, rate, dispatch, dispatch_data: data, timeout_ms: timeout, deprecated, source } = method
  const { cache, compression: isCompressed } = method
  return (
    <div className="stack-wide">
      <dl className="facts">
        <dt>{texts.access}</dt>
        <dd>
          <Access {...method} />
          {method.public ? null : <InheritedFrom group={method.inherited['scopes']} />}
        </dd>
        <dt>{texts.action}</dt>
        <dd>
          {action.kind === 'class' ? (
            <bdi translate="no">{action.name}</bdi>
          ) : (
            <Link to="/actions/$name" params={{ name: action.name }}>
              <bdi translate="no" className={action.kind === 'file' ? 'mono' : undefined}>
                {action.name}
              </bdi>
            </Link>
          )}{' '}
          {action.class === null ? null : (
            <span className="soft">
              {texts.class} {action.class}
            </span>
          )}
        </dd>
        <Steps {...method} />
        {source === null ? null : (
          <>
            <dt>{buildTexts.source}</dt>
            <dd>
              <Source value={source} />
            </dd>
          </>
        )}
        {rate === null ? null : (
          <>
            <dt>{texts.rate}</dt>
            <dd>
              <Link to="/settings">
                <bdi translate="no">{rate}</bdi>
              </Link>
              <InheritedFrom group={method.inherited['rate']} />
            </dd>
          </>
        )}
        {dispatch === null ? null : (
          <>
            <dt>{texts.dispatch}</dt>
            <dd>
              <Link to="/events/$name" params={{ name: dispatch }}>
                <bdi translate="no">{dispatch}</bdi>
              </Link>
              {data === null ? null : (
                <span className="soft">
                  {' '}
                  {texts.dispatchData} <bdi translate="no">{data.join(', ')}</bdi>
                </span>
              )}
            </dd>
          </>
        )}
        {timeout === null ? null : (
          <>
            <dt>{texts.timeout}</dt>
            <dd>
              {buildTexts.duration(timeout)}
              <InheritedFrom group={method.inherited['timeout']} />
            </dd>
          </>
        )}
        {cache === null ? null : (
          <>
            <dt>{texts.cache}</dt>
            <dd>{texts.cachedFor(buildTexts.duration(cache.max_age_ms), cache.public)}</dd>
          </>
        )}
        {isCompressed ? null : (
          <>
            <dt>{texts.compression}</dt>
            <dd>{texts.never}</dd>
          </>
        )}
        {deprecated === false ? null : (
          <>
            <dt>{routesTexts.deprecated}</dt>
            <dd>
              <State tone="warn">
                {deprecated === true ? routesTexts.deprecated : routesTexts.deprecatedSince(deprecated)}
              </State>
              <InheritedFrom group={method.inherited['deprecated']} />
            </dd>
          </>
        )}
      </dl>
      <div className="two">
        <Request method={method} />
        <Responses method={method} />
      </div>
      {config === null ? null : (
        <section>
          <h2>{texts.config}</h2>
          <Json value={config} label={texts.config} />
        </section>
      )}
    </div>
  )
}

function Steps({ steps, without }: Pick<Method, 'steps' | 'without'>) {
  if (steps.length === 0 && without.length === 0) return null
  return (
    <>
      <dt>{texts.steps}</dt>
      <dd>
        <StepList steps={steps} without={without} />
      </dd>
    </>
  )
}

function Request({ method }: { readonly method: Method }) {
  const { params, query, request, request_types: types, body_limit: limit, schemas } = method
  const readsBody = ['POST', 'PUT', 'PATCH'].includes(method.method)
  return (
    <div className="stack-wide">
      {hasProperties(params) ? (
        <section>
          <h2>{texts.path}</h2>
          <SchemaView schema={params} named={schemas} label={texts.path} />
        </section>
      ) : null}
      {hasProperties(query) ? (
        <section>
          <h2>{texts.query}</h2>
          <SchemaView schema={query} named={schemas} label={texts.query} />
        </section>
      ) : null}
      <section>
        <h2>{texts.body}</h2>
        {types !== undefined ? (
          <MediaTypes types={types} named={schemas} label={texts.body} />
        ) : request === undefined ? (
          <p className="soft">{readsBody ? texts.anyBody : texts.noBody}</p>
        ) : (
          <SchemaView schema={request} named={schemas} label={texts.body} />
        )}
        {limit === null ? null : <p className="soft">{texts.bodyLimit(limit)}</p>}
      </section>
    </div>
  )
}

function hasProperties(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && ('$ref' in schema || 'properties' in schema)
}

interface MediaTypesProps {
  readonly types: NonNullable<Method['request_types']>
  readonly named: Method['schemas']
  readonly label: string
}

/** A body by media type. */
function MediaTypes({ types, named, label }: MediaTypesProps) {
  return Object.entries(types).map(([type, { schema }]) => (
    <div key={type} className="body-view">
      <p className="soft">
        <code translate="no">{type}</code>
        {schema === undefined ? ` · ${texts.bytes}` : null}
      </p>
      {schema === undefined ? null : <SchemaView schema={schema} named={named} label={`${label} ${type}`} />}
    </div>
  ))
}

function Responses({ method }: { readonly method: Method }) {
  const { responses, response_types: byStatus = {}, schemas } = method
  const statuses = [...new Set([...Object.keys(responses), ...Object.keys(byStatus)])].toSorted()
  return (
    <section>
      <h2>{texts.responses}</h2>
      {statuses.length === 0 ? <p className="soft">{texts.noResponses}</p> : null}
      {statuses.map((status) => (
        <div key={status} className="response">
          <h3>
            <State tone={status < '400' ? 'good' : 'quiet'}>{status}</State>
          </h3>
          {byStatus[status] === undefined ? (
            <SchemaView schema={responses[status]} named={schemas} label={`${texts.responses} ${status}`} />
          ) : (
            <MediaTypes types={byStatus[status]} named={schemas} label={`${texts.responses} ${status}`} />
          )}
        </div>
      ))}
    </section>
  )
}
