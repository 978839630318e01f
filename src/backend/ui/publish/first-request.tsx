import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { definitionQuery, nameOf, type Route } from '../api/definition.ts'
import { CodeBlock } from '../components/copy.tsx'
import { config, issuer } from '../config.ts'

const texts = {
  title: 'Send a request',
  text: 'No calls in the last 24 hours. Traffic appears here within a minute of the first one.',
  label: 'Command for a terminal',
  try: 'Try it',
  routes: 'Show routes',
} as const

/** In place of the figures while nothing is called: a call to copy. */
export function FirstRequest() {
  const { data } = useQuery(definitionQuery)
  const route = data === undefined ? undefined : findFirst(data.routes)
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

/** The simplest method: one that reads, needs no token and no parameter. */
function findFirst(routes: readonly Route[]): Route | undefined {
  const reading = routes.filter(({ method, path }) => method === 'GET' && !path.includes('/:'))
  return reading.find((route) => route.public) ?? reading[0]
}

function writeCall(route: Route): string {
  const token = config.isDevelopment ? '$(npx waypost token:issue --user dev)' : 'TOKEN'
  const header = route.public ? '' : ` \\\n  -H "Authorization: Bearer ${token}"`
  return `curl ${issuer}${route.path}${header}`
}
