import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ChevronRight } from 'lucide-react'
import { MethodBadge } from '../components/badge.tsx'
import { useNear } from '../components/use-near.ts'
import { portal } from '../portal/config.ts'
import { givenToken } from '../portal/reference/given-token.ts'
import { referenceQuery } from '../portal/reference/load.ts'
import { places } from '../portal/reference/places.ts'
import type { Group, Operation } from '../portal/reference/read-openapi.ts'
import { useStore } from '../session/store.ts'
import { Brand } from '../shell/frame.tsx'
import { docsTexts as texts } from './docs-texts.ts'
import { navTexts } from '../shell/nav-texts.ts'

/** Groups of an API with more operations are closed at first. */
const maxOpen = 40

/** All operations, in groups that open and close. */
export function Navigation() {
  const token = useStore(givenToken)
  const isReadable = portal.docs !== 'private' || token !== undefined
  const { data } = useQuery({ ...referenceQuery, enabled: isReadable })
  const { operation } = useParams({ strict: false })
  const groups = (isReadable ? data?.groups : undefined) ?? []
  const isSmall = groups.reduce((sum, { operations }) => sum + operations.length, 0) <= maxOpen
  return (
    <nav aria-label={navTexts.label} className="nav docs-nav">
      <Link to={places.list} className="docs-brand">
        <Brand name={portal.service} {...(portal.isDevelopment ? { mode: 'dev' } : {})} />
      </Link>
      <ul>
        {([undefined, 'authentication', 'errors'] as const).map((tab) => (
          <li key={tab ?? ''}>
            <Link
              to={places.list}
              search={tab === undefined ? {} : { tab }}
              activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
              className="nav-link"
            >
              {texts[tab ?? 'home']}
            </Link>
          </li>
        ))}
      </ul>
      {groups.length === 0 ? null : (
        <section aria-label={texts.navigation}>
          {groups.map((group) => (
            <NavigationGroup
              key={group.name}
              group={group}
              isOpenAtFirst={isSmall}
              isCurrent={group.operations.some(({ id }) => id === operation)}
            />
          ))}
        </section>
      )}
    </nav>
  )
}

interface NavigationGroupProps {
  readonly group: Group
  readonly isOpenAtFirst: boolean
  /** Whether the page of one of its operations is shown. */
  readonly isCurrent: boolean
}

function NavigationGroup({ group: { name, operations }, isOpenAtFirst, isCurrent }: NavigationGroupProps) {
  const [chosen, setChosen] = useState<boolean>()
  const isOpen = chosen ?? (isOpenAtFirst || isCurrent)
  return (
    <details className="docs-group" open={isOpen}>
      <summary
        onClick={(event) => {
          event.preventDefault() // React opens it
          setChosen(!isOpen)
        }}
      >
        <ChevronRight size={12} aria-hidden />
        <bdi translate="no" className="ellipsis">
          {name.startsWith('/') ? name : `/${name}`}
        </bdi>
        <span className="soft">{operations.length}</span>
      </summary>
      {isOpen ? (
        <ul>
          {operations.map((operation) => (
            <li key={operation.id}>
              <NavigationLink {...operation} />
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  )
}

function NavigationLink({ id, method, summary, isDeprecated }: Operation) {
  const [link, isNear] = useNear<HTMLAnchorElement>('.rail, .drawer')
  return (
    <Link ref={link} to={places.operation} params={{ operation: id }} className="nav-link docs-link">
      {isNear ? (
        <>
          <MethodBadge method={method} />
          <bdi className={isDeprecated ? 'ellipsis docs-deprecated' : 'ellipsis'} title={summary}>
            {summary}
          </bdi>
        </>
      ) : (
        `${method} ${summary}`
      )}
    </Link>
  )
}
