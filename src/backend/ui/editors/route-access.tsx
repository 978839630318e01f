import { useState } from 'react'
import { Access } from '../components/definition-parts.tsx'
import { ScopesPicker } from '../edit/pickers.tsx'
import { isMap } from '../edit/values.ts'
import { AccessChoice, type AccessKind } from './access-choice.tsx'
import { placesOf, Section, type PartProps, type ServedMethod } from './route-section.tsx'
import { accessTexts } from './route-texts.ts'

interface AccessProps extends PartProps {
  readonly served: ServedMethod
}

/** Who may call a method. */
export function AccessSection({ edit, method, path, served }: AccessProps) {
  const at = placesOf(method, path)
  const [chosen, setChosen] = useState<AccessKind>()
  const routeScopes = edit.get(`${at.route}/scopes`)
  const kind = chosen ?? accessOf(edit.get(at.method), routeScopes)
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
      <AccessChoice
        {...{ path, method, inherited: routeScopes, value: kind, onChange: choose }}
        at={`${at.method}/public`}
      >
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
      </AccessChoice>
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
