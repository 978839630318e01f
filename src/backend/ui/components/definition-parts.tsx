import { Link } from '@tanstack/react-router'
import type { Route } from '../api/definition.ts'
import { MethodBadge } from './badge.tsx'
import { config, issuer } from '../config.ts'
import { CommandHint, CopyText } from './copy.tsx'
import { EmptyState } from './empty-state.tsx'
import { useHasDraft, useServerDraft } from '../edit/draft.ts'
import { buildTexts, whoTexts } from './definition-texts.ts'
import { publishTexts as publish } from '../publish/publish-texts.ts'

const kindsTexts = {
  listener: 'listener',
  cronjob: 'cronjob',
  event: 'event',
  schema: 'schema',
} as const

/** Who may call a method, as a sentence: "Tokens with todo · 4 users, 2 clients". */
export function Access({ public: isPublic, scopes, holders }: Pick<Route, 'public' | 'scopes' | 'holders'>) {
  if (isPublic) return <span>{whoTexts.anyone}</span>
  if (scopes.length === 0) return <span>{whoTexts.anyToken}</span>
  const people = holders?.users === 0 ? whoTexts.nobody : holders && whoTexts.holders(holders.users, holders.clients)
  return (
    <span title={`${whoTexts.tokens} ${scopes.join(` ${whoTexts.or} `)}${people ? ` · ${people}` : ''}`}>
      {whoTexts.tokens}{' '}
      {scopes.map((scope, index) => (
        <span key={scope}>
          {index === 0 ? '' : ` ${whoTexts.or} `}
          <bdi translate="no" className="strong">
            {scope}
          </bdi>
        </span>
      ))}
      {people === null ? null : <span className="soft"> · {people}</span>}
    </span>
  )
}

/** The group from which a method has a value; nothing if it has the value itself. */
export function InheritedFrom({ group }: { readonly group: string | undefined }) {
  return group === undefined ? null : (
    <span className="soft">
      {' '}
      · {buildTexts.inheritedFrom} <bdi translate="no">{group}</bdi>
    </span>
  )
}

/** `file:line` with a copy button; nothing if the files of the release are not kept. */
export function Source({ value }: { readonly value: string | null }) {
  return value === null ? null : <CopyText value={value} isMono label={buildTexts.source} />
}

interface Use {
  readonly kind: 'route' | 'listener' | 'cronjob' | 'event' | 'schema'
  readonly name: string
}

/** What uses a thing, with links. Names alone are methods. */
export function Users({
  uses,
  limit = Infinity,
  none = buildTexts.unused,
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
      {rest > 0 ? <li className="soft">{buildTexts.more(rest)}</li> : null}
    </ul>
  )
}

function UseLink({ kind, name }: Use) {
  if (kind === 'route') return <RouteLink name={name} />
  return (
    <>
      <span className="soft">{kindsTexts[kind]}</span>{' '}
      {kind === 'cronjob' || kind === 'listener' ? (
        <bdi translate="no">{name}</bdi>
      ) : (
        <Link to={kind === 'event' ? '/events/$name' : '/schemas/$name'} params={{ name }}>
          <bdi translate="no">{name}</bdi>
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
      <MethodBadge method={method} />{' '}
      <span translate="no" className="mono">
        {path}
      </span>
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
        title={buildTexts.noRelease}
        text={draft.entries.length === 0 ? publish.noRoutes : publish.noReleases}
        link={draft.entries.length === 0 ? { to: '/', label: publish.begin } : { to: '/publish', label: publish.page }}
      />
    )
  const deploy = config.isDevelopment ? undefined : (
    <CommandHint label={buildTexts.deployWith} command={`npx waypost deploy --url ${issuer}`} />
  )
  return <EmptyState title={buildTexts.noRelease} text={buildTexts.noReleaseText} action={deploy} />
}
