import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { CopyText, Json } from '../../components/copy.tsx'
import { State } from '../../components/badge.tsx'
import { issuer } from '../../config.ts'
import { InlineMarkdown } from '../../markdown/markdown.tsx'
import { CodeInLanguages } from '../../try/code-of-request.tsx'
import { writeTokenCode } from '../../try/write-code.ts'
import { useReader } from './given-token.ts'
import { isAlone, places } from './places.ts'
import type { Reference, Response, Scope } from './read-openapi.ts'
import { countOf } from '../../components/format.ts'

const authenticationTexts = {
  send: 'Send a token',
  sendText:
    'Operations that are not public need an access token. Send it with each request, in the Authorization header:',
  header: 'Authorization: Bearer TOKEN',
  own: 'Get a token for your own program',
  ownText: 'Create a client, keep its secret on your server, and exchange both for an access token.',
  ownTextAlone:
    'You need a client: the operator of this API, or POST /consumer/client, creates it. Keep its secret on your server, and exchange id and secret for an access token.',
  ownAfter:
    'The response contains access_token, and expires_in in seconds. Keep the token and request a new one before it expires. Omit scope to get all scopes of the client.',
  clients: 'Create a client',
  others: 'Act for other users',
  othersText:
    'An app that acts for users of this service sends them to this server to sign in and give consent. It uses the authorization code flow of OAuth 2 with PKCE (S256). Every OAuth 2 library supports it.',
  authorize: 'Authorization endpoint',
  token: 'Token endpoint',
  discovery: 'OAuth metadata',
  othersClientAlone:
    'You need a client with the address of your app as redirect URI. An app that cannot keep a secret, such as one in a browser or on a phone, is a public client.',
  othersClient:
    'Create a client with the address of your app as redirect URI. An app that cannot keep a secret, such as one in a browser or on a phone, is a public client.',
  scopes: 'Scopes',
  scopesText: 'A token can use an operation if it has one of the scopes of the operation.',
  noScopes: 'No operation needs a scope.',
  operations: (amount: number) => countOf(amount, 'operation'),
  held: 'your account has it',
  notHeld: 'your account does not have it',
  heldByToken: 'your token has it',
  notHeldByToken: 'your token does not have it',
  noPrivate: 'All operations are public. You need no token.',
} as const

const errorsTexts = {
  text: 'Errors have a status of 400 or higher and a JSON body of the type application/problem+json (RFC 9457):',
  example: 'Example of an error',
  fields: 'Fields of an error',
  members: {
    type: 'The kind of error. It never changes, so compare this in your code.',
    title: 'The status as text.',
    status: 'The status as a number.',
    detail: 'What is wrong with this request, for people. The wording can change.',
    hint: 'What to do about it. Optional.',
    errors: 'Each invalid part of the request, with its path and a message. Optional.',
  },
  statuses: 'Statuses',
  retry: 'Retries',
  retryText:
    'After 429 or 503, wait the number of seconds in the Retry-After header, then repeat the request. After any other 4xx error, change the request before you repeat it.',
} as const

/** How programs get tokens, and which scopes there are. */
export function AuthenticationGuide({ groups, scopes }: Reference) {
  const texts = authenticationTexts
  const isAllPublic = groups.every(({ operations }) => operations.every(({ isPublic }) => isPublic))
  const reader = useReader()
  // Without those of the account API, which has no operations here.
  const used = scopes.filter(({ operations }) => operations > 0)
  const [usual] = used.toSorted((a, b) => b.operations - a.operations)
  const scope = (used.find(({ name }) => reader?.scopes.includes(name)) ?? usual ?? scopes[0])?.name ?? ''
  if (isAllPublic) return <p>{texts.noPrivate}</p>
  return (
    <div className="guide">
      <section>
        <h2>{texts.send}</h2>
        <p>{texts.sendText}</p>
        <pre translate="no" className="code">
          {texts.header}
        </pre>
      </section>
      <section>
        <h2>{texts.own}</h2>
        <p>{isAlone ? texts.ownTextAlone : texts.ownText}</p>
        {isAlone ? null : (
          <p>
            <Button variant="default" renderRoot={(props) => <Link to="/clients" {...props} />}>
              {texts.clients}
            </Button>
          </p>
        )}
        <CodeInLanguages
          write={(language) => writeTokenCode(language, { url: `${issuer}/authorization/token`, scope })}
        />
        <p>{texts.ownAfter}</p>
      </section>
      <section>
        <h2>{texts.others}</h2>
        <p>{texts.othersText}</p>
        <dl className="facts portal-facts">
          {[
            [texts.authorize, '/authorization/authorize'],
            [texts.token, '/authorization/token'],
            [texts.discovery, '/.well-known/oauth-authorization-server'],
          ].map(([label = '', path = '']) => (
            <div key={path}>
              <dt>{label}</dt>
              <dd>
                <CopyText value={issuer + path} isMono label={label} />
              </dd>
            </div>
          ))}
        </dl>
        <p>{isAlone ? texts.othersClientAlone : texts.othersClient}</p>
      </section>
      <section>
        <h2>{texts.scopes}</h2>
        <p>{used.length === 0 ? texts.noScopes : texts.scopesText}</p>
        <ul className="scope-list">
          {used.map((scope) => (
            <ScopeEntry key={scope.name} {...scope} />
          ))}
        </ul>
      </section>
    </div>
  )
}

function ScopeEntry({ name, description, operations }: Scope) {
  const texts = authenticationTexts
  const reader = useReader()
  const isHeld = reader?.scopes.includes(name)
  const [held, notHeld] =
    reader?.hasToken === true ? [texts.heldByToken, texts.notHeldByToken] : [texts.held, texts.notHeld]
  return (
    <li>
      <bdi translate="no" className="mono strong">
        {name}
      </bdi>
      <span dir="auto">
        <InlineMarkdown text={description} />
      </span>
      <Link to={places.list} search={{ search: name }}>
        {texts.operations(operations)}
      </Link>
      {isHeld === undefined ? null : <State tone={isHeld ? 'good' : 'quiet'}>{isHeld ? held : notHeld}</State>}
    </li>
  )
}

/** What errors look like, and what to do about them. */
export function ErrorGuide({ problems }: Reference) {
  const texts = errorsTexts
  const example = problems.find(({ content }) => content?.example !== undefined)?.content?.example
  return (
    <div className="guide">
      <section>
        <p>{texts.text}</p>
        {example === undefined ? null : <Json value={example} label={texts.example} />}
      </section>
      <section>
        <h2>{texts.fields}</h2>
        <dl className="facts">
          {Object.entries(texts.members).map(([name, text]) => (
            <Fact key={name} name={name} text={text} />
          ))}
        </dl>
      </section>
      <section>
        <h2>{texts.statuses}</h2>
        <Problems problems={problems} />
      </section>
      <section>
        <h2>{texts.retry}</h2>
        <p>{texts.retryText}</p>
      </section>
    </div>
  )
}

/** Errors of the server by status, in a few words. */
export function Problems({ problems }: { readonly problems: readonly Response[] }) {
  return (
    <dl className="facts">
      {problems.map(({ status, description }) => (
        <Fact key={status} name={status} text={description} />
      ))}
    </dl>
  )
}

function Fact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <>
      <dt className="mono">{name}</dt>
      <dd dir="auto">
        <InlineMarkdown text={text} />
      </dd>
    </>
  )
}
