import { Link } from '@tanstack/react-router'
import { sessionStore } from '../../session/session.ts'
import { useStore } from '../../session/store.ts'
import { reference } from '../strings/reference.ts'
import type { Operation, Scope } from './read-openapi.ts'

const { access: texts } = reference

type Access = Pick<Operation, 'isPublic' | 'scopes'>

/** Whether the user may call an operation; undefined if nobody is signed in. */
function useIsAllowed({ isPublic, scopes }: Access): boolean | undefined {
  const session = useStore(sessionStore)
  if (session === undefined) return undefined
  return isPublic || scopes.length === 0 || scopes.some((scope) => session.scopes.includes(scope))
}

/** Who may call an operation, in a list, and whether the user may not. */
export function AccessLabel(access: Access) {
  const isAllowed = useIsAllowed(access)
  if (access.isPublic) return <span className="soft">{texts.public}</span>
  if (access.scopes.length === 0) return <span className="soft">{texts.token}</span>
  return (
    <span className="soft">
      {access.scopes.map((scope, index) => (
        <span key={scope}>
          {index === 0 ? '' : ` ${texts.or} `}
          <bdi className="mono">{scope}</bdi>
        </span>
      ))}
      {isAllowed === false ? ` · ${texts.notYours}` : null}
    </span>
  )
}

/** Who may call an operation, as a sentence, and whether the user may. */
export function AccessSentence({ access, scopes }: { readonly access: Access; readonly scopes: readonly Scope[] }) {
  const isAllowed = useIsAllowed(access)
  if (access.isPublic) return <p>{texts.publicSentence}</p>
  const [only] = access.scopes
  const described = scopes.filter(({ name, description }) => access.scopes.includes(name) && description !== '')
  return (
    <div className="stack-small">
      <p>
        {only === undefined ? texts.tokenSentence : null}
        {access.scopes.length === 1 ? (
          <>
            {texts.scopeSentence} <code dir="auto">{only}</code>.{' '}
          </>
        ) : null}
        {access.scopes.length > 1 ? texts.scopesSentence : null}
        {access.scopes.length > 1
          ? access.scopes.map((scope, index) => (
              <span key={scope}>
                {index === 0 ? ' ' : ', '}
                <code dir="auto">{scope}</code>
                {index === access.scopes.length - 1 ? '.' : ''}
              </span>
            ))
          : null}{' '}
        <Link to="/reference" search={{ tab: 'authentication' }}>
          {texts.how}
        </Link>
      </p>
      {described.length === 0 ? null : (
        <dl className="portal-scopes">
          {described.map(({ name, description }) => (
            <div key={name}>
              <dt>
                <bdi className="mono">{name}</bdi>
              </dt>
              <dd dir="auto">{description}</dd>
            </div>
          ))}
        </dl>
      )}
      {isAllowed === undefined ? null : (
        <p className={isAllowed ? 'soft' : 'note'}>{isAllowed ? texts.has : texts.lacks}</p>
      )}
    </div>
  )
}
