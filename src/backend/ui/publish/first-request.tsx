import { Button } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { activeQuery, nameOf, type Route } from '../api/definition.ts'
import { CodeBlock } from '../components/copy.tsx'
import { resolveSchema, type NamedSchemas } from '../components/named-schemas.ts'
import { config, issuer } from '../config.ts'

const texts = {
  title: 'Send a request',
  text: 'No calls yet. Traffic appears here within a minute of the first one.',
  label: 'Command for a terminal',
  try: 'Try it',
  routes: 'Show routes',
} as const

const maxAsked = 5

/** In place of the figures while nothing is called: a call to copy. */
export function FirstRequest() {
  const route = useFirst()
  return (
    <section className="stack-small first-request">
      <h2>{texts.title}</h2>
      <p className="soft">{texts.text}</p>
      {route === undefined ? null : <CodeBlock code={writeCall(route)} label={texts.label} />}
      <div className="first-request-actions">
        {route === undefined ? null : (
          <Button
            renderRoot={(props) => (
              <Link to="/routes/$route" params={{ route: nameOf(route) }} search={{ tab: 'try' }} {...props} />
            )}
          >
            {texts.try}
          </Button>
        )}
        <Link to="/routes">{texts.routes}</Link>
      </div>
    </section>
  )
}

/** The simplest served method: one that reads, needs no parameter and, if possible, no token. */
function useFirst(): Route | undefined {
  const { data } = useQuery(activeQuery)
  const reading = (data?.routes ?? []).filter(({ method, path }) => method === 'GET' && !path.includes('/:'))
  const first = reading.toSorted((a, b) => Number(b.public) - Number(a.public)).slice(0, maxAsked)
  const asked = useQueries({
    queries: first.map(({ method, path }) => ({
      queryKey: ['method', `${method} ${path}`, 'active'],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        call('GET /release/:id/method', { params: { id: 'active' }, query: { method, path } }, signal),
    })),
  })
  return first.find((_one, index) => {
    const method = asked[index]?.data
    return method !== undefined && !needsQuery(method.query, method.schemas)
  })
}

function needsQuery(query: unknown, named: NamedSchemas): boolean {
  const { required } = resolveSchema(query, named)
  return Array.isArray(required) && required.length > 0
}

function writeCall(route: Route): string {
  const token = config.isDevelopment ? '$(npx waypost token:issue --user dev)' : 'TOKEN'
  const header = route.public ? '' : ` \\\n  -H "Authorization: Bearer ${token}"`
  return `curl ${issuer}${route.path}${header}`
}
