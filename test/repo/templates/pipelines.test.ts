import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { assertPinned, readPart } from './part.ts'

describe('the pipelines', () => {
  const github = parse(readPart('github/__github/workflows/waypost.yml')) as GithubWorkflow
  const gitlab = parse(readPart('gitlab/__gitlab-ci.yml')) as Record<string, GitlabJob> & { image: string }

  it('of GitHub make plans for branches of the repository only, with a client that can only read', () => {
    assert.deepEqual(Object.keys(github.on), ['pull_request', 'push', 'workflow_dispatch'])
    const { check, plan, deploy } = github.jobs
    assert.doesNotMatch(JSON.stringify(check), /secrets\./)
    assert.match(plan!.if!, /head\.repo\.full_name == github\.repository/)
    assert.deepEqual(JSON.stringify(plan).match(/secrets\.\w+/g), ['secrets.WAYPOST_PLAN_CLIENT_SECRET'])
    assert.equal(deploy!.if, "github.event_name != 'pull_request' && github.ref == 'refs/heads/main'")
    assert.deepEqual([github.on.push, deploy!.environment], [{ branches: ['main'] }, 'production'])
    assert.match(JSON.stringify(deploy), /--against/)
  })

  it('confirm breaking changes only if a person starts them and says so', () => {
    const { confirm } = github.on.workflow_dispatch.inputs
    assert.deepEqual([confirm.type, confirm.default], ['boolean', false])
    assert.deepEqual(JSON.stringify(github.jobs['deploy']).match(/[^ ]* [^ ]* '--yes'[^}]*/g), [
      "inputs.confirm && '--yes' || '' ",
    ])
    assert.doesNotMatch(JSON.stringify(gitlab['deploy']), /--yes/)
    const { extends: base, rules, variables } = gitlab['deploy-confirmed']!
    assert.deepEqual([base, variables], ['deploy', { CONFIRM: '--yes' }])
    assert.deepEqual(
      rules!.map(({ when }) => when),
      ['manual'],
    )
  })

  it('make the plan once', () => {
    const scripts = [github.jobs['plan']!.steps.map(({ run = '' }) => run), gitlab['plan']!.script!]
    for (const script of scripts) assert.equal(script.join('\n').match(/deploy --plan/g)?.length, 1)
  })

  it('of GitHub can write only a comment, and put no text of a pull request into a script', () => {
    assert.deepEqual(github.permissions, { contents: 'read' })
    for (const line of readPart('github/__github/workflows/waypost.yml').match(/uses: .*/g) ?? [])
      assert.match(line, / # v\d+\.\d+\.\d+$/)
    for (const [name, { permissions, steps }] of Object.entries(github.jobs)) {
      assert.deepEqual(permissions, name === 'plan' ? { contents: 'read', 'pull-requests': 'write' } : undefined)
      for (const { run = '', uses } of steps) {
        assert.doesNotMatch(run, /\$\{\{/)
        if (uses !== undefined) assert.match(uses, /^actions\/[\w-]+@[0-9a-f]{40}$/)
      }
    }
  })

  it('of GitLab do the same', () => {
    assertPinned(gitlab.image)
    const { check, plan, deploy } = gitlab
    assert.doesNotMatch(JSON.stringify(check), /SECRET|TOKEN/)
    assert.match(plan!.rules![0]!.if, /\$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == \$CI_PROJECT_ID/)
    assert.doesNotMatch(JSON.stringify(plan), /DEPLOY_CLIENT/)
    assert.deepEqual(deploy!.rules, [{ if: '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH' }])
    assert.deepEqual([deploy!.environment, deploy!.resource_group], ['production', 'production'])
    assert.match(JSON.stringify(deploy), /--against/)
  })
})

interface GithubWorkflow {
  readonly on: {
    readonly push: object
    readonly workflow_dispatch: {
      readonly inputs: { readonly confirm: { readonly type: string; readonly default: boolean } }
    }
  }
  readonly permissions: object
  readonly jobs: Readonly<Record<string, GithubJob>>
}

interface GithubJob {
  readonly if?: string
  readonly environment?: string
  readonly permissions?: object
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[]
}

interface GitlabJob {
  readonly extends?: string
  readonly variables?: object
  readonly script?: readonly string[]
  readonly rules?: readonly { readonly if: string; readonly when?: string }[]
  readonly environment?: string
  readonly resource_group?: string
}
