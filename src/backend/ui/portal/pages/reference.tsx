import { Skeleton, Tabs, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState, type MouseEvent } from 'react'
import { MethodBadge, Path, State } from '../../components/badge.tsx'
import { CopyText } from '../../components/copy.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ProblemAlert } from '../../components/problem.tsx'
import { useNear } from '../../components/use-near.ts'
import { issuer } from '../../config.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { portal } from '../config.ts'
import { AccessLabel } from '../reference/access.tsx'
import { AuthenticationGuide, ErrorGuide } from '../reference/guides.tsx'
import { DocumentLink } from '../reference/document-link.tsx'
import { referenceQuery } from '../reference/load.ts'
import { addressOf, isAlone, places } from '../reference/places.ts'
import { useOldAnchor } from '../reference/old-anchor.ts'
import { filterGroups, type Group, type Operation, type Reference } from '../reference/read-openapi.ts'
import '../reference/reference.css'
import { referenceTexts, tabsTexts } from '../reference/reference-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

const tabs = ['operations', 'authentication', 'errors'] as const

export function Page() {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const found = useQuery(referenceQuery)
  const { data } = found
  useOldAnchor(data)
  const tab = tabs.find((one) => one === search['tab']) ?? 'operations'
  return (
    <>
      <PageHeader title={pagesTexts.reference} />
      {isAlone ? <Markdown text={portal.description} level={2} className="reference-about" /> : null}
      <dl className="facts portal-facts api-facts">
        <div>
          <dt>{referenceTexts.baseUrl}</dt>
          <dd>
            <CopyText value={issuer} isMono label={referenceTexts.baseUrl} />
          </dd>
        </div>
        <div>
          <dt>{referenceTexts.document}</dt>
          <dd>
            <DocumentLink />
          </dd>
        </div>
      </dl>
      {found.isError ? <ProblemAlert error={found.error} onRetry={() => void found.refetch()} /> : null}
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ to: '.', search: next === 'operations' ? {} : { tab: next ?? '' }, replace: true })
        }
      >
        <Tabs.List aria-label={referenceTexts.tabsLabel}>
          {tabs.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {tabsTexts[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="operations">
          {data === undefined ? <Skeleton height={240} /> : <Operations groups={data.groups} />}
        </Tabs.Panel>
        <Tabs.Panel value="authentication">{data === undefined ? null : <AuthenticationGuide {...data} />}</Tabs.Panel>
        <Tabs.Panel value="errors">{data === undefined ? null : <ErrorGuide {...data} />}</Tabs.Panel>
      </Tabs>
    </>
  )
}

function Operations({ groups }: Pick<Reference, 'groups'>) {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const [text, setText] = useState(search['search'] ?? '')
  const change = (next: string) => {
    setText(next)
    void navigate({ to: '.', search: next === '' ? {} : { search: next }, replace: true })
  }
  if (groups.length === 0) return <EmptyState title={referenceTexts.empty} text={referenceTexts.emptyText} />
  const found = filterGroups(groups, text)
  const amount = found.reduce((sum, { operations }) => sum + operations.length, 0)
  return (
    <div className="stack">
      <div className="operation-filter">
        <TextInput
          type="search"
          aria-label={referenceTexts.filter}
          placeholder={referenceTexts.filterHint}
          leftSection={<Search size={14} aria-hidden />}
          value={text}
          onChange={(event) => change(event.currentTarget.value)}
        />
        <span className="soft" role="status">
          {referenceTexts.found(amount)}
        </span>
      </div>
      {found.length === 0 ? (
        <EmptyState
          title={referenceTexts.none}
          text={referenceTexts.noneText}
          action={
            <button type="button" className="text-button" onClick={() => change('')}>
              {referenceTexts.clear}
            </button>
          }
        />
      ) : null}
      {found.map((group) => (
        <OperationGroup key={group.name} {...group} />
      ))}
    </div>
  )
}

function OperationGroup({ name, operations }: Group) {
  return (
    <section className="operation-group" aria-label={name}>
      <h2 className="mono">{name.startsWith('/') ? name : `/${name}`}</h2>
      <ul className="operations">
        {operations.map((operation) => (
          <li key={operation.id}>
            <OperationLink {...operation} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A link of which only the text is rendered until it comes near: an API may have a thousand. */
function OperationLink(operation: Operation) {
  const { id, method, path, summary, isDeprecated } = operation
  const [link, isNear] = useNear<HTMLAnchorElement>('#content')
  const router = useRouter()
  const to = { to: places.operation, params: { operation: id } }
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void router.navigate(to)
  }
  return (
    <a ref={link} href={addressOf(id)} className="operation" onClick={onClick}>
      {isNear ? (
        <>
          <MethodBadge method={method} />
          <span translate="no" className="operation-path mono">
            <Path path={path} />
          </span>
          <span className="operation-summary">
            <bdi>{summary}</bdi> {isDeprecated ? <State tone="warn">{referenceTexts.deprecated}</State> : null}
          </span>
          <span className="operation-access">
            <AccessLabel {...operation} />
          </span>
        </>
      ) : (
        `${method} ${path} ${summary}`
      )}
    </a>
  )
}
