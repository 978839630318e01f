import { Link } from '@tanstack/react-router'
import { InlineMarkdown } from '../../markdown/markdown.tsx'
import { useReader } from './given-token.ts'
import { places } from './places.ts'
import type { Operation, Scope } from './read-openapi.ts'
import { accessTexts as texts } from './reference-texts.ts'

type Access = Pick<Operation, 'isPublic' | 'scopes'>

/** Whether the user may call an operation, with the texts to show; undefined without a user. */
function useIsAllowed({ isPublic, scopes }: Access) {
  const reader = useReader()
  if (reader === undefined) return undefined
  const isAllowed = isPublic || scopes.length === 0 || scopes.some((scope) => reader.scopes.includes(scope))
  return { isAllowed, texts: reader.hasToken ? texts.ofToken : texts.ofAccount }
}

/** Who may call an operation, in a list, and whether the user may not. */
export function AccessLabel(access: Access) {
  const found = useIsAllowed(access)
  if (access.isPublic) return <span className="soft">{texts.public}</span>
  if (access.scopes.length === 0) return <span className="soft">{texts.token}</span>
  return (
    <span className="soft">
      {access.scopes.map((scope, index) => (
        <span key={scope}>
          {index === 0 ? '' : ` ${texts.or} `}
          <bdi translate="no" className="mono">
            {scope}
          </bdi>
        </span>
      ))}
      {found?.isAllowed === false ? ` · ${found.texts.missing}` : null}
    </span>
  )
}

/** Who may call an operation, as a sentence, and whether the user may. */
export function AccessSentence({ access, scopes }: { readonly access: Access; readonly scopes: readonly Scope[] }) {
  const found = useIsAllowed(access)
  if (access.isPublic) return <p>{texts.publicSentence}</p>
  const [only] = access.scopes
  const described = scopes.filter(({ name, description }) => access.scopes.includes(name) && description !== '')
  return (
    <div className="stack-small">
      <p>
        {only === undefined ? texts.tokenSentence : null}
        {access.scopes.length === 1 ? (
          <>
            {texts.scopeSentence}{' '}
            <code translate="no" dir="auto">
              {only}
            </code>
            .{' '}
          </>
        ) : null}
        {access.scopes.length > 1 ? texts.scopesSentence : null}
        {access.scopes.length > 1
          ? access.scopes.map((scope, index) => (
              <span key={scope}>
                {index === 0 ? ' ' : ', '}
                <code translate="no" dir="auto">
                  {scope}
                </code>
                {index === access.scopes.length - 1 ? '.' : ''}
              </span>
            ))
          : null}{' '}
        <Link to={places.list} search={{ tab: 'authentication' }}>
          {texts.how}
        </Link>
      </p>
      {described.length === 0 ? null : (
        <dl className="portal-scopes">
          {described.map(({ name, description }) => (
            <div key={name}>
              <dt>
                <bdi translate="no" className="mono">
                  {name}
                </bdi>
              </dt>
              <dd dir="auto">
                <InlineMarkdown text={description} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {found === undefined ? null : (
        <p className={found.isAllowed ? 'soft' : 'note'}>{found.isAllowed ? found.texts.has : found.texts.lacks}</p>
      )}
    </div>
  )
}
