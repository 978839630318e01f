import { addClient, addUser, type NewClient } from '../../src/auth/index.ts'
import { openClientSite, type ClientSite } from '../support/client-site.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { makeTestClock, type TestClock } from '../support/clock.ts'
import { readTemplate } from '../support/template.ts'

export const password = 'correct horse battery'
export const issuer = 'http://localhost:3000'
const clientName = 'Acme Tasks'

/** A server with the users ann and bob, who have todo and note, and a confidential client on another port of this machine. */
export interface BrowserWorld extends AsyncDisposable {
  readonly server: ProjectServer
  readonly site: ClientSite
  readonly clock: TestClock
  readonly clientName: string
  /** Deploys with more settings. */
  configure(settings: Readonly<Record<string, string>>): Promise<void>
  addClient(client: Partial<NewClient>): Promise<{ id: string; secret: string }>
  /** Where the browser begins for a client. */
  authorizeUrl(clientId: string, parameters?: Readonly<Record<string, string>>): string
}

export async function openBrowserWorld(moreScopes: readonly string[] = []): Promise<BrowserWorld> {
  const clock = makeTestClock()
  const site = await openClientSite()
  const variables = { WAYPOST_BASE_URL: issuer }
  const template = readTemplate('todo')
  const config = '\nconfig:\n  registration: true\n  title: Acme Cloud\n'
  const files = { ...template, 'waypost.yml': template['waypost.yml'] + config }
  const server = await openProjectServer({ files, variables, clock })
  const { system } = server.host
  for (const name of ['ann', 'bob']) await addUser(system, { name, password, scopes: ['todo', 'note', ...moreScopes] })
  return {
    server,
    site,
    clock,
    clientName,
    async configure(settings) {
      const more = Object.entries(settings).map(([name, value]) => `  ${name}: ${JSON.stringify(value.trim())}\n`)
      await server.deploy({ ...files, 'waypost.yml': files['waypost.yml'] + more.join('') })
    },
    async addClient(client) {
      // Its owner is bob, so that ann is asked.
      const { id, secret = '' } = await addClient(system, {
        name: clientName,
        user: 'bob',
        scopes: ['todo', 'note'],
        grants: ['authorization_code'],
        redirectUris: [site.redirectUri],
        public: false,
        ...client,
      })
      return { id, secret }
    },
    authorizeUrl(clientId, parameters = {}) {
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: site.redirectUri,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', // RFC 7636, appendix B
        code_challenge_method: 'S256',
        state: 'a b&c=ü',
        scope: 'todo',
        ...parameters,
      })
      return `${server.url}/authorization/authorize?${query.toString()}`
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await site[Symbol.asyncDispose]()
    },
  }
}
