import type { DeployPlan } from '../../../src/project/index.ts'
import { countChanges } from './plan-summary.ts'

/** A plan as data; a deployment says the same and more. */
export function planJson(plan: DeployPlan) {
  const { id, target, active, changes } = plan
  return {
    release: id,
    target: target.address,
    active:
      active === undefined
        ? null
        : {
            id: active.id,
            activated_at: new Date(active.activatedAt).toISOString(),
            activated_by: active.activatedBy,
            message: active.message ?? null,
          },
    changes,
    breaking: countChanges(changes).breaking,
    breaking_changes: plan.breakingChanges,
    unheld_scopes: plan.unheldScopes,
    lacking_variables: plan.lackingVariables,
    pending_migrations: plan.pendingMigrations,
  }
}
