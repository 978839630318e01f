import { useState } from 'react'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Access } from '../components/definition-parts.tsx'
import { ScopesPicker } from '../edit/pickers.tsx'
import { isMap, pointerOf } from '../edit/values.ts'
import { AccessChoice, type AccessKind } from './access-choice.tsx'
import { ownerOf, placesOf, Section, type PartProps, type ServedMethod } from './route-section.tsx'
import { accessTexts } from './route-texts.ts'

interface AccessProps extends PartProps {
  readonly served: ServedMethod
}

/** Who may call a method. */
export function AccessSection({ edit, method, path, served }: AccessProps) {
  const at = placesOf(method, path)
  // Without a scope, that choice is not a value yet.
  const [scopesRound, setScopesRound] = useState<number>()
  const owner = ownerOf(edit, 'scopes', { path, served })
  const shared = `${pointerOf('routes', owner)}/scopes`
  const routeScopes = edit.get(shared)
  const stored = accessOf(edit.get(at.method), routeScopes)
  const kind = stored === 'route' && scopesRound === edit.round ? 'scopes' : stored
  const choose = (next: AccessKind) => {
    setScopesRound(next === 'scopes' ? edit.round : undefined)
    const before = edit.before(at.method)
    const hadPublic = isMap(before) && Object.hasOwn(before, 'public')
    edit.set(
      `${at.method}/public`,
      next === 'public' ? true : hadPublic && before['public'] !== true ? false : undefined,
    )
    const own = isMap(before) && accessOf(before, routeScopes) === 'scopes' ? before['scopes'] : undefined
    edit.set(`${at.method}/scopes`, next === 'any' ? [] : next === 'scopes' ? own : undefined)
  }
  const setScopes: typeof edit.set = (place, next) => {
    if (isNoScope(next)) setScopesRound(edit.round)
    edit.set(place, isNoScope(next) ? undefined : next)
  }
  const isUnchanged = served !== undefined && kind === accessOf(edit.before(at.method), edit.before(shared))
  return (
    <Section title={accessTexts.title}>
      <AccessChoice
        {...{ path: owner, method, inherited: routeScopes, value: kind, onChange: choose }}
        at={`${at.method}/public`}
      >
        {kind === 'scopes' ? (
          <ScopesPicker
            edit={{ ...edit, set: setScopes }}
            at={`${at.method}/scopes`}
            label={accessTexts.scopes}
            description={routeScopes === undefined ? accessTexts.scopesText : accessTexts.noScopes(owner)}
            isRequired
          />
        ) : null}
        {kind === 'route' ? <RouteScopes edit={edit} path={owner} /> : null}
      </AccessChoice>
      {isUnchanged && kind !== 'public' ? (
        <p className="soft">
          {accessTexts.now} <Access {...served} />
        </p>
      ) : null}
    </Section>
  )
}

/** The scopes of the path or of a group. Removing the last one opens it to any valid token: that is asked first. */
function RouteScopes({ edit, path }: Omit<PartProps, 'method'>) {
  const at = `${pointerOf('routes', path)}/scopes`
  const [isAsking, setAsking] = useState(false)
  const set: typeof edit.set = (place, next) =>
    place === at && isNoScope(next) ? setAsking(true) : edit.set(place, next)
  return (
    <>
      <ScopesPicker
        edit={{ ...edit, set }}
        at={at}
        label={accessTexts.routeScopes(path)}
        description={accessTexts.routeScopesText}
        isRequired
      />
      {isAsking ? (
        <ConfirmDialog
          title={accessTexts.openTitle(path)}
          action={accessTexts.open}
          isDanger
          onConfirm={async () => edit.set(at, [])}
          onClose={() => setAsking(false)}
        >
          <p>{accessTexts.openText}</p>
          <p>{accessTexts.replaceText}</p>
        </ConfirmDialog>
      ) : null}
    </>
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
