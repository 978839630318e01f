import { variable } from '../kit/index.ts'
import { openIdentity, readBaseUrl, type Host, type Identity } from '../host/index.ts'
import { loadFacts, replaceFact, storeFact } from '../store/index.ts'
import { errors } from './errors.ts'

/** A System that serves a deployment is left alone, its tables too. @throws WP_PROJECT_PRODUCTION */
export async function assertDevelopment({ system }: Host): Promise<void> {
  const tables = await system.db.introspection.getTables()
  if (!tables.some(({ name }) => name === 'waypost_system')) return
  const { origin = 'development' } = await loadFacts(system)
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: system.target })
}

/** From now on this System belongs to development, and its issuer is where `dev` listens. */
export async function claimDevelopment(host: Host, port: number): Promise<Identity> {
  const { system, variables } = host
  const issuer = readBaseUrl(variable(variables, 'WAYPOST_BASE_URL')) ?? `http://localhost:${port}`
  const origin = await storeFact(system, 'origin', 'development')
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: system.target })
  const facts = await loadFacts(system)
  if (facts.issuer !== issuer) await replaceFact(system, 'issuer', issuer)
  return openIdentity(host)
}
