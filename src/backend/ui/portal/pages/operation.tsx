import { NativeSelect, Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { RouteTitle, State } from '../../components/badge.tsx'
import { CopyButton, Json } from '../../components/copy.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { toSchema, type NamedSchemas, type Schema } from '../../components/named-schemas.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { SchemaView } from '../../components/schema-view.tsx'
import { issuer } from '../../config.ts'
import { InlineMarkdown, Markdown } from '../../markdown/markdown.tsx'
import { useCrumbName, useCrumbTitle } from '../../shell/breadcrumbs.tsx'
import { CodeOfRequest } from '../../try/code-of-request.tsx'
import { findVariants } from '../../try/request-values.ts'
import { AccessSentence } from '../reference/access.tsx'
import { Problems } from '../reference/guides.tsx'
import { referenceQuery } from '../reference/load.ts'
import { places } from '../reference/places.ts'
import {
  findOperation,
  type Content,
  type Operation,
  type Reference,
  type Response,
} from '../reference/read-openapi.ts'
import { sampleOf } from '../reference/sample.ts'
import { TryOperation } from '../reference/try-operation.tsx'
import '../reference/reference.css'
import { accessTexts, operationTexts as texts, referenceTexts } from '../reference/reference-texts.ts'
import { tryItTexts } from '../../try/try-texts.ts'

const tabs = ['reference', 'try'] as const

export function Page() {
  const { operation: id = '' } = useParams({ strict: false })
  const found = useQuery(referenceQuery)
  const { data } = found
  if (found.isError && data === undefined)
    return <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />
  if (data === undefined) return <Skeleton height={320} />
  const place = findOperation(data, id)
  if (place === undefined) return <NotFound />
  return <OperationPage key={id} {...place} all={data} />
}

function NotFound() {
  useCrumbTitle(texts.notFound)
  return (
    <EmptyState isPage title={texts.notFound} text={texts.notFoundText} link={{ to: places.list, label: texts.back }} />
  )
}

interface OperationPageProps {
  readonly operation: Operation
  readonly previous: Operation | undefined
  readonly next: Operation | undefined
  readonly all: Reference
}

function OperationPage({ operation, previous, next, all }: OperationPageProps) {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const { method, path, summary, isDeprecated } = operation
  useCrumbName(`${method} ${path}`)
  return (
    <>
      <PageHeader
        title={summary}
        text={
          <span className="operation-address">
            <RouteTitle method={method} path={path} />
            <CopyButton value={issuer + path} label={referenceTexts.url} />
            {isDeprecated ? <State tone="warn">{referenceTexts.deprecated}</State> : null}
          </span>
        }
      />
      <Tabs
        value={tabs.find((one) => one === search['tab']) ?? 'reference'}
        keepMounted={false}
        onChange={(tab) => void navigate({ to: '.', search: tab === 'try' ? { tab } : {}, replace: true })}
      >
        <Tabs.List aria-label={texts.tabsLabel}>
          {tabs.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {texts.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="reference">
          <div className="operation-columns">
            <Description operation={operation} all={all} />
            <Samples operation={operation} schemas={all.schemas} />
            <Errors {...operation} />
          </div>
          <nav aria-label={texts.neighbours} className="neighbours">
            <Neighbour label={texts.previous} operation={previous} />
            <Neighbour label={texts.next} operation={next} />
          </nav>
        </Tabs.Panel>
        <Tabs.Panel value="try">
          <TryOperation operation={operation} schemas={all.schemas} />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Neighbour({ label, operation }: { readonly label: string; readonly operation: Operation | undefined }) {
  if (operation === undefined) return <span />
  return (
    <Link to={places.operation} params={{ operation: operation.id }}>
      <span className="soft">{label}</span>
      <bdi>{operation.summary}</bdi>
    </Link>
  )
}

function Description({ operation, all }: { readonly operation: Operation; readonly all: Reference }) {
  const { description, isDeprecated, pathParameters, query, headers, body, responses } = operation
  return (
    <div className="stack-wide">
      {isDeprecated ? <p className="note">{texts.deprecated}</p> : null}
      <Markdown text={description} level={2} />
      <section>
        <h2>{accessTexts.title}</h2>
        <AccessSentence access={operation} scopes={all.scopes} />
      </section>
      <Parameters title={texts.path} schema={pathParameters} named={all.schemas} />
      <Parameters title={texts.query} schema={query} named={all.schemas} />
      <Parameters title={texts.headers} schema={headers} named={all.schemas} />
      {body === undefined ? null : (
        <section>
          <h2>{texts.body}</h2>
          <p className="soft">{body.isRequired ? texts.bodyRequired : texts.bodyOptional}</p>
          {[body, ...body.others].map((content) => (
            <BodyView
              key={content.type}
              content={content}
              isOnly={body.others.length === 0}
              label={texts.body}
              named={all.schemas}
              use="request"
            />
          ))}
        </section>
      )}
      <section>
        <h2>{texts.responses}</h2>
        {responses
          .filter(({ isShared }) => !isShared)
          .map((response) => (
            <ResponsePart key={response.status} {...response} named={all.schemas} />
          ))}
      </section>
    </div>
  )
}

/** Errors of the server, which other operations have too. */
function Errors({ responses }: Operation) {
  const errors = responses.filter(({ isShared }) => isShared)
  if (errors.length === 0) return null
  return (
    <section className="operation-errors">
      <h2>{texts.errors}</h2>
      <Problems problems={errors} />
      <p className="after">
        <ErrorsLink />
      </p>
    </section>
  )
}

function ErrorsLink() {
  return (
    <Link to={places.list} search={{ tab: 'errors' }}>
      {texts.errorsText}
    </Link>
  )
}

interface ParametersProps {
  readonly title: string
  readonly schema: Schema
  readonly named: NamedSchemas
}

function Parameters({ title, schema, named }: ParametersProps) {
  const all = Object.entries(toSchema(schema['properties']))
  if (all.length === 0) return null
  const variants = findVariants(all.map(([name]) => name))
  const pick = (areVariants: boolean) => ({
    ...schema,
    properties: Object.fromEntries(all.filter(([name]) => variants.has(name) === areVariants)),
  })
  return (
    <section>
      <h2>{title}</h2>
      <SchemaView schema={pick(false)} named={named} label={title} isInPlace />
      {variants.size === 0 ? null : (
        <details>
          <summary>{tryItTexts.more(variants.size)}</summary>
          <SchemaView schema={pick(true)} named={named} label={title} isInPlace />
        </details>
      )}
    </section>
  )
}

function ResponsePart({
  status,
  description,
  content,
  others,
  headers,
  named,
}: Response & { readonly named: NamedSchemas }) {
  const contents = content === undefined ? [] : [content, ...others]
  return (
    <div className="response">
      <h3 className="response-head">
        <State tone={status < '400' ? 'good' : 'quiet'}>{status}</State> <InlineMarkdown text={description} />
      </h3>
      {contents.length === 0 ? <p className="soft">{texts.noBody}</p> : null}
      {contents.map((one) => (
        <BodyView
          key={one.type}
          content={one}
          isOnly={others.length === 0}
          label={`${texts.responses} ${status}`}
          named={named}
          use="response"
        />
      ))}
      {headers.length === 0 ? null : (
        <>
          <h4>{texts.responseHeaders}</h4>
          <SchemaView schema={schemaOfHeaders(headers)} named={named} label={texts.responseHeaders} isInPlace />
        </>
      )}
    </div>
  )
}

function schemaOfHeaders(headers: Response['headers']): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      headers.map(({ name, description, schema }) => [
        name,
        { ...schema, ...(description === '' ? {} : { description }) },
      ]),
    ),
  }
}

interface BodyViewProps {
  readonly content: Content
  /** Whether this is the only media type. */
  readonly isOnly: boolean
  readonly label: string
  readonly named: NamedSchemas
  readonly use: 'request' | 'response'
}

/** A body of one media type. */
function BodyView({ content: { type, schema, isStream }, isOnly, label, named, use }: BodyViewProps) {
  // The description of a response is that of its schema.
  const { description: _, ...shown } = toSchema(schema)
  const isUsual = isOnly && (type === 'application/json' || type === '*/*')
  if (type === 'application/problem+json')
    return (
      <p className="soft">
        <code translate="no">{type}</code> · <ErrorsLink />
      </p>
    )
  return (
    <div className="body-view">
      {isUsual ? null : (
        <p className="soft">
          <code translate="no">{type}</code>
          {isStream ? ` · ${texts.eachItem}` : ''}
        </p>
      )}
      {Object.keys(shown).length === 0 ? (
        <p className="soft">{texts.anyBody}</p>
      ) : (
        <SchemaView schema={shown} named={named} label={label} isInPlace use={use} />
      )}
    </div>
  )
}

function Samples({ operation, schemas }: { readonly operation: Operation; readonly schemas: NamedSchemas }) {
  const responses = operation.responses.filter(({ content, isShared }) => !isShared || content?.example !== undefined)
  const [status, setStatus] = useState(responses[0]?.status ?? '')
  const chosen = responses.find((one) => one.status === status)
  const example = chosen?.content?.example
  return (
    <div className="samples">
      <section>
        <h2>{texts.exampleRequest}</h2>
        <CodeOfRequest request={sampleOf(operation, { baseUrl: issuer, schemas })} />
      </section>
      {chosen === undefined ? null : (
        <section>
          <h2>{texts.exampleResponse}</h2>
          <div className="sample">
            <div className="sample-head">
              <NativeSelect
                aria-label={texts.responseStatus}
                value={status}
                data={responses.map((one) => ({
                  value: one.status,
                  label: `${one.status} ${one.description}`.slice(0, 60),
                }))}
                onChange={(event) => setStatus(event.currentTarget.value)}
              />
              {example === undefined ? null : (
                <CopyButton value={JSON.stringify(example, null, 2)} label={texts.exampleResponse} />
              )}
            </div>
            {example === undefined ? (
              <p className="sample-empty soft">{chosen.content === undefined ? texts.noBody : texts.anyBody}</p>
            ) : (
              <Json value={example} label={texts.exampleResponse} />
            )}
          </div>
        </section>
      )}
    </div>
  )
}
