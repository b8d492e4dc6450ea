/** Checks that the manifests are valid and match each other, the image and nginx.conf. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** A node always exits within the sum of both stop settings, plus two seconds. */
const minGracePeriod = (delay: string) => Number(delay) + 10 + 2;

interface Service {
  readonly environment?: Record<string, string>;
  readonly secrets?: readonly string[];
  readonly depends_on?: Record<string, { condition: string }>;
  readonly networks?: { inside?: { ipv4_address: string } };
  readonly stop_grace_period?: string;
  readonly [name: string]: unknown;
}

interface Compose {
  readonly services: Record<string, Service>;
  readonly secrets: Record<string, { file: string }>;
  readonly volumes: Record<string, object>;
}

describe('deploy/compose.yaml', () => {
  const { services, secrets, volumes } = parse(read('deploy/compose.yaml'), { merge: true }) as Compose;
  const nodes = ['node-one', 'node-two'];

  test('contains the two nodes of nginx.conf, which trust only nginx as a proxy', () => {
    const upstream = [...read('deploy/nginx.conf').matchAll(/^ *server (\S+):8080 /gm)].map(([, ip]) => ip);
    assert.deepEqual(
      nodes.map((name) => services[name]!.networks!.inside!.ipv4_address),
      upstream,
    );
    for (const name of nodes) {
      const { ESPALIER_TRUST_PROXY } = services[name]!.environment!;
      assert.equal(ESPALIER_TRUST_PROXY, services['nginx']!.networks!.inside!.ipv4_address);
    }
  });

  test('restricts the file system, capabilities and resources of every service', () => {
    assert.deepEqual(Object.keys(services), ['database', ...nodes, 'nginx']);
    for (const { read_only, cap_drop, security_opt, deploy } of Object.values(services)) {
      assert.deepEqual({ read_only, cap_drop, security_opt }, restrictions);
      assert.match(
        JSON.stringify(deploy),
        /^\{"resources":\{"limits":\{"cpus":"\d","memory":"\d+[GM]"\}\}\}$/,
      );
    }
  });

  test('refers only to secrets, files, volumes and services that exist', () => {
    for (const { secrets: ownSecrets = [], environment = {}, depends_on = {} } of Object.values(services)) {
      for (const secret of ownSecrets) assert.equal(secrets[secret]?.file, `./secrets/${secret}`);
      const namedSecrets = Object.values(environment).flatMap(
        (value) => /^\/run\/secrets\/(.*)$/.exec(value)?.[1] ?? [],
      );
      assert.deepEqual(namedSecrets.toSorted(), [...ownSecrets].sort());
      for (const [other, { condition }] of Object.entries(depends_on)) {
        assert.ok(services[other]);
        assert.equal(condition, 'service_healthy');
      }
    }
    const volumeMounts = Object.values(services).flatMap((each) => (each['volumes'] ?? []) as string[]);
    const namedVolumes = volumeMounts
      .map((each) => each.split(':')[0]!)
      .filter((name) => !name.startsWith('.'));
    assert.deepEqual(namedVolumes.sort(), Object.keys(volumes).sort());
  });

  test('gives a node enough time to stop', () => {
    for (const name of nodes) {
      const { environment, stop_grace_period } = services[name]!;
      const minSeconds = minGracePeriod(environment!['ESPALIER_STOP_DELAY_SECONDS']!);
      assert.ok(Number(stop_grace_period!.replace('s', '')) > minSeconds);
    }
  });
});

const restrictions = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };

describe('deploy/nginx.conf', () => {
  test('closes idle connections before a stopping node closes them', () => {
    const text = read('deploy/nginx.conf');
    const [, idleSeconds] = /^ *keepalive_timeout (\d+)s;$/m.exec(text)!;
    const [, failSeconds] = /fail_timeout=(\d+)s/.exec(text)!;
    for (const file of [
      'deploy/compose.yaml',
      'deploy/espalier.service',
      'docs/operators/several-nodes.md',
    ]) {
      const [, delaySeconds] = /ESPALIER_STOP_DELAY_SECONDS(?:=|: ')(\d+)/.exec(read(file))!;
      assert.ok(
        Number(idleSeconds) < Number(delaySeconds) && Number(failSeconds) < Number(delaySeconds),
        file,
      );
    }
  });
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml'));
  const kinds = new Map(documents.map((each) => [each.get('kind') as string, each.toJS() as Manifest]));

  test('is valid and contains everything that a node needs', () => {
    assert.deepEqual(
      documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
      [],
    );
    assert.deepEqual(
      [...kinds.keys()],
      ['Secret', 'Deployment', 'Service', 'NetworkPolicy', 'PodDisruptionBudget', 'Ingress'],
    );
  });

  test('contains every secret that a setting names', () => {
    const pod = kinds.get('Deployment')!.spec.template.spec;
    const [{ env }] = pod.containers;
    const files = env.flatMap(({ value }) => /^\/etc\/espalier\/(.*)$/.exec(value)?.[1] ?? []);
    assert.deepEqual(files.sort(), Object.keys(kinds.get('Secret')!.stringData).sort());
  });

  test('gives a pod enough time to stop', () => {
    const pod = kinds.get('Deployment')!.spec.template.spec;
    const [{ env }] = pod.containers;
    const { value } = env.find(({ name }) => name === 'ESPALIER_STOP_DELAY_SECONDS')!;
    assert.ok(pod.terminationGracePeriodSeconds > minGracePeriod(value));
  });

  test('lets only the ingress connect, and trusts it as the only proxy', () => {
    const { template } = kinds.get('Deployment')!.spec;
    const [{ env }] = template.spec.containers;
    const { value } = env.find(({ name }) => name === 'ESPALIER_TRUST_PROXY')!;
    assert.equal(value, '1');
    const { podSelector, policyTypes, ingress } = kinds.get('NetworkPolicy')!.spec;
    assert.deepEqual(podSelector.matchLabels, template.metadata.labels);
    assert.deepEqual(policyTypes, ['Ingress']);
    const { ingressClassName } = kinds.get('Ingress')!.spec;
    const controller = `ingress-${ingressClassName}`;
    assert.deepEqual(ingress, [
      {
        from: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': controller } },
            podSelector: { matchLabels: { 'app.kubernetes.io/name': controller } },
          },
        ],
        ports: [{ port: 'http', protocol: 'TCP' }],
      },
    ]);
  });

  test('runs as the user of the image', () => {
    const { runAsUser, runAsGroup } = kinds.get('Deployment')!.spec.template.spec.securityContext;
    assert.match(read('Dockerfile'), new RegExp(`^USER ${runAsUser}:${runAsGroup}$`, 'm'));
  });
});

interface Manifest {
  readonly stringData: object;
  readonly spec: {
    readonly ingressClassName: string;
    readonly podSelector: { readonly matchLabels: object };
    readonly policyTypes: readonly string[];
    readonly ingress: readonly unknown[];
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
        readonly containers: readonly [{ readonly env: readonly { name: string; value: string }[] }];
      };
    };
  };
}
