import type { Variables } from '../../kit/index.ts'
import { openSystemTarget } from './open-system-target.ts'
import type { DeployTarget } from './target.ts'

export interface TargetOptions {
  readonly folder: string
  readonly variables: Variables
  /** The URL of a running server; by default System from the environment. */
  readonly url?: string | undefined
}

/** Opens the target of a deployment: a running server, or System directly. */
export async function openTarget(options: TargetOptions): Promise<DeployTarget> {
  const { url, variables } = options
  if (url === undefined) return openSystemTarget(options)
  const { openRemoteTarget } = await import('./remote/open-remote-target.ts')
  return openRemoteTarget({ url, variables })
}
