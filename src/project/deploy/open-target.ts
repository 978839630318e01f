import type { Variables } from '../../kit/index.ts'
import { openSystemTarget } from './open-system-target.ts'
import type { DeployTarget } from './target.ts'

export interface TargetOptions {
  readonly folder: string
  readonly variables: Variables
  /** The address of a running server; without it System, as the environment names it. */
  readonly url?: string | undefined
}

/** Opens what is deployed to: a running server, or System directly. */
export async function openTarget(options: TargetOptions): Promise<DeployTarget> {
  const { url, variables } = options
  if (url === undefined) return openSystemTarget(options)
  const { openRemoteTarget } = await import('./remote/open-remote-target.ts')
  return openRemoteTarget({ url, variables })
}
