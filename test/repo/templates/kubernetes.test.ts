import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { assertCommand, assertPinned, parts, readPart } from './part.ts'

describe('the example for Kubernetes', () => {
  const folder = 'kubernetes/deploy/kubernetes'
  const files = globSync('*.yml', { cwd: path.join(parts, folder) }).filter((file) => file !== 'kustomization.yml')
  const objects = files.flatMap((file) =>
    parseAllDocuments(readPart(`${folder}/${file}`)).map((one) => one.toJSON() as KubernetesObject),
  )
  const podOf = ({ kind, spec }: KubernetesObject): Pod | undefined => {
    const jobSpec = kind === 'CronJob' ? spec.jobTemplate?.spec : spec
    return jobSpec?.template?.spec
  }
  const pods = objects.flatMap((object) => podOf(object) ?? [])
  const server = objects.find(({ kind }) => kind === 'Deployment')!

  it('is a Deployment with its Service and budget, a worker and cronjobs each minute, and two jobs', () => {
    const kinds = objects.map(({ kind, metadata }) => `${kind} ${metadata.name ?? metadata.generateName}`)
    assert.deepEqual(kinds.toSorted(), [
      'ConfigMap waypost',
      'CronJob cron',
      'CronJob events',
      'Deployment server',
      'Job deploy-',
      'Job migrate-',
      'NetworkPolicy server',
      'PodDisruptionBudget server',
      'Service server',
    ])
    for (const { kind, spec } of objects) if (kind === 'CronJob') assert.equal(spec.schedule, '* * * * *')
    const { resources } = parse(readPart(`${folder}/kustomization.yml`)) as { resources: string[] }
    for (const file of resources) assert.ok(files.includes(file), file)
  })

  it('runs commands that exist in pinned images, as an unprivileged user, read-only, within limits', () => {
    assert.equal(pods.length, 5)
    for (const { containers, securityContext, automountServiceAccountToken: isMounted } of pods) {
      assert.equal(isMounted, false)
      assert.equal(securityContext.runAsNonRoot, true)
      assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' })
      for (const { args, image, resources, securityContext: own, envFrom } of containers) {
        assertCommand(args)
        assertPinned(image)
        assert.deepEqual(Object.keys(resources), ['requests', 'limits'])
        assert.deepEqual(own, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        assert.deepEqual(envFrom, [{ configMapRef: { name: 'waypost' } }, { secretRef: { name: 'waypost' } }])
      }
    }
    assert.ok(!objects.some(({ kind }) => kind === 'Secret'))
  })

  it('checks whether a server is alive and ready, and allows more time to stop than it takes', () => {
    const [{ livenessProbe, readinessProbe, startupProbe, ports }] = podOf(server)!.containers as [Container]
    assert.deepEqual(
      [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet),
      ['/health/live', '/health/live', '/health/ready'].map((file) => ({ path: file, port: 'http' })),
    )
    assert.deepEqual(
      ports?.map(({ name }) => name),
      ['http', 'ops'],
    )
    const delay = Number.parseInt(objects.find(({ kind }) => kind === 'ConfigMap')!.data!['WAYPOST_STOP_DELAY']!, 10)
    assert.ok(podOf(server)!.terminationGracePeriodSeconds! > delay + 10)
  })

  it('leads the Service and the budget to the pods of the server', () => {
    const { labels } = server.spec.template!.metadata!
    assert.deepEqual(server.spec.selector?.matchLabels, labels)
    assert.deepEqual(objects.find(({ kind }) => kind === 'Service')!.spec.selector, labels)
    const budget = objects.find(({ kind }) => kind === 'PodDisruptionBudget')!
    assert.deepEqual(budget.spec.selector?.matchLabels, labels)
  })

  it('only allows metrics scrapers to reach the port without tokens', () => {
    const { podSelector, ingress } = objects.find(({ kind }) => kind === 'NetworkPolicy')!.spec
    assert.deepEqual(podSelector?.matchLabels, server.spec.template!.metadata!.labels)
    assert.deepEqual(
      ingress?.map(({ ports: [port], from }) => [port!.port, from === undefined]),
      [
        ['http', true],
        ['ops', false],
      ],
    )
    const service = objects.find(({ kind }) => kind === 'Service')!
    assert.deepEqual(
      service.spec.ports?.map(({ targetPort }) => targetPort),
      ['http'],
    )
  })
})

interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name?: string; readonly generateName?: string; readonly labels?: object }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: KubernetesSpec
}

interface KubernetesSpec {
  readonly schedule?: string
  readonly selector?: { readonly matchLabels?: object }
  readonly template?: { readonly metadata?: { readonly labels: object }; readonly spec: Pod }
  readonly ports?: readonly { readonly targetPort: string }[]
  readonly podSelector?: { readonly matchLabels: object }
  readonly ingress?: readonly { readonly ports: readonly { readonly port: string }[]; readonly from?: object }[]
  readonly jobTemplate?: { readonly spec: KubernetesSpec }
}

interface Pod {
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly seccompProfile: object }
  readonly containers: readonly Container[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly resources: object
  readonly securityContext: object
  readonly envFrom: readonly object[]
  readonly ports?: readonly { readonly name: string }[]
  readonly startupProbe?: { readonly httpGet: object }
  readonly livenessProbe?: { readonly httpGet: object }
  readonly readinessProbe?: { readonly httpGet: object }
}
