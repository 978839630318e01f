import type { Variables } from '../../kit/index.ts'
import { openSystemTarget } from './open-system-target.ts'
import type { DeployTarget } from './target.ts'

export interface TargetOptions {
  readonly folder: string
  readonly variables: Variables
}

/** Opens what is deployed to: the System that the environment names. */
export async function openTarget(options: TargetOptions): Promise<DeployTarget> {
  return openSystemTarget(options)
}
