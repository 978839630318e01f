import { existsSync } from 'node:fs'
import path from 'node:path'
import { variable } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { TargetOptions } from './open-target.ts'

const embeddedFile = path.join('.waypost', 'system.db')

/** Nothing is looked for longer than it takes to see that there is none. @throws WP_PROJECT_NO_TARGET */
export function assertTarget({ folder, variables, url }: TargetOptions): void {
  if (url !== undefined || variable(variables, 'WAYPOST_SYSTEM_URL') !== undefined) return
  if (!existsSync(path.join(folder, embeddedFile))) throw errors.WP_PROJECT_NO_TARGET()
}
