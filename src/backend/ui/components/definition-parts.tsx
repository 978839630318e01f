import { Link } from '@tanstack/react-router'
import { build as texts } from '../strings/build.ts'
import type { Route } from '../api/definition.ts'
import { MethodBadge } from './badge.tsx'
import { config, issuer } from '../config.ts'
import { CommandHint, CopyText } from './copy.tsx'
import { EmptyState } from './empty-state.tsx'
import { useHasDraft, useServerDraft } from '../edit/draft.ts'
import { publish } from '../strings/publish.ts'

/** Who may call a method, as a sentence: "Tokens with todo · 4 users, 2 clients". */
export function Access({ public: isPublic, scopes, holders }: Pick<Route, 'public' | 'scopes' | 'holders'>) {
  if (isPublic) return <span>{texts.access.anyone}</span>
  if (scopes.length === 0) return <span>{texts.access.anyToken}</span>
  const people =
    holders?.users === 0 ? texts.access.nobody : holders && texts.access.holders(holders.users, holders.clients)
  return (
    <span title={`${texts.access.tokens} ${scopes.join(` ${texts.access.or} `)}${people ? ` · ${people}` : ''}`}>
      {texts.access.tokens}{' '}
      {scopes.map((scope, index) => (
        <span key={scope}>
          {index === 0 ? '' : ` ${texts.access.or} `}
          <bdi className="strong">{scope}</bdi>
        </span>
      ))}
      {people === null ? null : <span className="soft"> · {people}</span>}
    </span>
  )
}

/** `file:line` with a copy button; nothing if the files of the release are not kept. */
export function Source({ value }: { readonly value: string | null }) {
  return value === null ? null : <CopyText value={value} isMono label={texts.source} />
}

interface Use {
  readonly kind: 'route' | 'cronjob' | 'event' | 'schema'
  readonly name: string
}

/** What uses a thing, with links. Names alone are methods. */
export function Users({
  uses,
  limit = Infinity,
  none = texts.unused,
}: {
  readonly uses: readonly (Use | string)[]
  readonly limit?: number
  /** What is shown without uses. */
  readonly none?: string
}) {
  if (uses.length === 0) return <span className="soft">{none}</span>
  const all = uses.map((use): Use => (typeof use === 'string' ? { kind: 'route', name: use } : use))
  const rest = all.length - limit
  return (
    <ul className="users">
      {all.slice(0, limit).map((use) => (
        <li key={`${use.kind} ${use.name}`}>
          <UseLink {...use} />
        </li>
      ))}
      {rest > 0 ? <li className="soft">{texts.more(rest)}</li> : null}
    </ul>
  )
}

function UseLink({ kind, name }: Use) {
  if (kind === 'route') return <RouteLink name={name} />
  return (
    <>
      <span className="soft">{texts.kinds[kind]}</span>{' '}
      {kind === 'cronjob' ? (
        <bdi>{name}</bdi>
      ) : (
        <Link to={kind === 'event' ? '/events/$name' : '/schemas/$name'} params={{ name }}>
          <bdi>{name}</bdi>
        </Link>
      )}
    </>
  )
}

/** A link to the page of a method: `GET /todo`. */
export function RouteLink({ name }: { readonly name: string }) {
  const [method = '', path = ''] = name.split(' ')
  return (
    <Link to="/routes/$route" params={{ route: name }} className="route-link">
      <MethodBadge method={method} /> <span className="mono">{path}</span>
    </Link>
  )
}

/** Explains how to begin: in the draft of this server, or by deploying to it. */
export function NoRelease() {
  const canEdit = useHasDraft()
  const draft = useServerDraft()
  if (draft !== undefined && canEdit)
    return (
      <EmptyState
        title={texts.noRelease}
        text={draft.entries.length === 0 ? publish.noRoutes : publish.noReleases}
        link={draft.entries.length === 0 ? { to: '/', label: publish.begin } : { to: '/publish', label: publish.page }}
      />
    )
  const deploy = config.isDevelopment ? undefined : (
    <CommandHint label={texts.deployWith} command={`npx waypost deploy --url ${issuer}`} />
  )
  return <EmptyState title={texts.noRelease} text={texts.noReleaseText} action={deploy} />
}
