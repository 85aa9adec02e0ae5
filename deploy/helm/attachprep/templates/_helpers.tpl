{{/* The name of the objects: that of the release, with the chart's name unless it has it. */}}
{{- define "attachprep.name" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) }}
{{- $name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "attachprep.selector" -}}
app.kubernetes.io/name: {{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "attachprep.labels" -}}
{{ include "attachprep.selector" . }}
app.kubernetes.io/part-of: attachprep
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "attachprep.secret" -}}
{{ .Values.secrets.existing | default (include "attachprep.name" .) }}
{{- end }}

{{/* The public URL of the service; empty without one. */}}
{{- define "attachprep.baseURL" -}}
{{- if .Values.baseURL }}{{ .Values.baseURL }}
{{- else if .Values.ingress.enabled }}
{{- ternary "http" "https" (empty .Values.ingress.tlsSecret) }}://{{ .Values.ingress.host }}
{{- end }}
{{- end }}

{{/* The pods of a deployment: root, the values of the part, its name, arguments and port. */}}
{{- define "attachprep.pods" -}}
metadata:
  labels:
    {{- include "attachprep.selector" . | nindent 4 }}
  annotations:
    checksum/settings: {{ include (print .root.Template.BasePath "/configmap.yaml") .root | sha256sum }}
    {{- if not .root.Values.secrets.existing }}
    checksum/secrets: {{ include (print .root.Template.BasePath "/secret.yaml") .root | sha256sum }}
    {{- end }}
    {{- if .root.Values.metrics.annotations }}
    prometheus.io/scrape: "true"
    prometheus.io/port: {{ .port | quote }}
    prometheus.io/path: /metrics
    {{- end }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "attachprep.name" .root }}
  automountServiceAccountToken: false
  # The links of a service named attachprep would be variables such as ATTACHPREP_PORT=tcp://10.0.0.1:80.
  enableServiceLinks: false
  # 20 s for running jobs (--drain), 10 s for responses in progress, and a margin.
  terminationGracePeriodSeconds: 40
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: {type: RuntimeDefault}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "attachprep.selector" . | nindent 10 }}
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: attachprep
      {{- with .root.Values.image }}
      image: {{ printf "%s:%s" .repository (.tag | default $.root.Chart.AppVersion) }}
      {{- end }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      envFrom:
        - configMapRef: {name: {{ include "attachprep.name" .root }}}
        - secretRef: {name: {{ .root.Values.bucket.credentialsSecret }}, optional: true}
      env:
        - {name: ATTACHPREP_HOST, value: 0.0.0.0}
        - {name: ATTACHPREP_PORT, value: {{ .port | quote }}}
        - {name: ATTACHPREP_LOG_FORMAT, value: json}
        # Nothing is kept: files in progress are in /tmp.
        - {name: ATTACHPREP_DATA, value: ""}
        - {name: TMPDIR, value: /tmp}
        - {name: ATTACHPREP_REQUIRE_SANDBOX, value: "true"}
        - {name: ATTACHPREP_TOKEN_FILE, value: /run/secrets/attachprep/tokens}
        - {name: ATTACHPREP_WEBHOOK_SECRET_FILE, value: /run/secrets/attachprep/webhook-secrets}
        - {name: ATTACHPREP_QUEUE_KEY_FILE, value: /run/secrets/attachprep/queue-keys}
        # Not PGPASSFILE: libpq ignores a file that its group can read, as those of a secret.
        - name: PGPASSWORD
          valueFrom: {secretKeyRef: {name: {{ include "attachprep.secret" .root }}, key: database-password}}
        {{- with .values.mediaSlots }}
        - {name: ATTACHPREP_MEDIA_SLOTS, value: {{ . | quote }}}
        {{- end }}
        {{- with .values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - {name: http, containerPort: {{ .port }}}
      # Alive: restarted if it does not answer. Ready: gets requests only while it can process them. Neither needs a
      # token, and both are answered when all connections are in use.
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: secrets, mountPath: /run/secrets/attachprep, readOnly: true}
  volumes:
    # Sources and results in progress: at most 50 MB each, up to --concurrency of them.
    - {name: tmp, emptyDir: {sizeLimit: 4Gi}}
    - {name: secrets, secret: {secretName: {{ include "attachprep.secret" .root }}, defaultMode: 0440}}
{{- end }}
