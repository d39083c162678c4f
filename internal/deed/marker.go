package deed

// mark is what a word does in a sentence, beside naming deeds.
type mark uint32

const (
	agent   mark = 1 << iota // a reader that is a machine: assistant, bot
	short                    // the same, where it is written in capitals or behind a word that leads an address: AI
	tool                     // a program: software, automatic
	reads                    // who may be one: reader, client, whoever
	toward                   // leads an address: to, for, dear, note
	not                      // denies: not, no, without
	tell                     // a deed of speaking to the user: tell, mention, ask
	silent                   // says by itself that nobody is to know: quietly, secretly
	holder                   // for whom the agent works, as others call him: the user, the account holder
	task                     // what the agent does for him: summarise, answer, continue
	order                    // puts something before or behind that: before, after, first
	defers                   // hands a decision to a text: as it says, follow, according
	self                     // the speaker himself: me, us
	thing                    // a noun as often as a verb: mail, message
	joins                    // stands before a verb that orders: and, please
	yours                    // your
	how                      // how to
	whether                  // leads a question within a sentence
	be                       // to be sent
	det                      // stands before a noun: the, my
	ours                     // our: who is spoken of, and not to
	asks                     // asks for knowledge: what, which, show, summarise
)

// markers holds the words of each mark, folded as [reader] folds words, in the order of languages of the other lexicon. A hyphen
// at the end stands for any ending.
var markers = map[mark]string{
	agent: `llm llms gpt chatgpt copilot copilots chatbot- bot bots agent agents assistant assistants robot robots notetaker
		assistent- sprachmodell- sprachassistent- agenten agenter agenterne agenttien agentom agente agentes asistente assistente- agenti
		hjalpreda- avustaj- tekoal- agentti- botti- asystent- agentow asistent- botum botu
		asszisztens- asistan- asisten msaidizi
		ассистент- агент агента агенту агенты агентов агентам агентом помощник- бот бота боту боты ботов ботам ботом нейросет- робот робота роботу роботам роботы асистент- помічник-
		βοηθός βοηθό βοηθού βοηθοί βοηθούς πράκτορ-
		مساعد المساعد للمساعد والمساعد مساعدي المساعدين وكيل الوكيل للوكيل روبوت الروبوت للروبوت الذكاء للذكاء دستیار هوش ربات
		עוזר לעוזר העוזר העוזרת לעוזרת בוט לבוט הבוט סוכן לסוכן הסוכן
		सहायक एआई बॉट एजेंट সহায়ক সহকারী এআই বট এজেন্ট
		ผู้ช่วย เอไอ บอท
		助手 智能体 智能體 人工智能 大模型 机器人 機器人
		アシスタント エージェント ボット
		도우미- 에이전트- 봇 봇은 봇이 봇에게 챗봇- 어시스턴트- 인공지능-
		chatbots sprachmodelle digitalassistent- assistants assistenti assistentin assistants zeka zekaya zekasi kecerdasan tekoalyl- tekoalyn botow boti boty botti roboti roboty robotlar botlar ассистенты помощники 人工知能 智能助理 助理 ロボット 에이아이-`,
	short: `ai ais ki kis ia si ии ші mi`,
	tool: `outil outils narzedzi- nastroj- verktyg- verktoy- tyokalu- arac araci eszkoz- instrument instrumentele инструмент- інструмент- εργαλεί- أداة للأداة الأداة ابزار כלי उपकरण টুল เครื่องมือ 工具 ツール 도구- perkakas
		software program programs tool tools tooling parser parsers crawler crawlers automation automations automat- processors
		automated computer computers digital virtual script scripts scraper summariser summarisers summarizer summarizers machine machines
		programm programme maschine- vorleser vorlese- werkzeug- logiciel- automatique- numerique-
		sistemas programa programas automatic- automatiz- herramienta- ferramenta- digitales virtual virtuale virtuel- programma sistemi strumento strumenti
		automatisch- systeem digitale programvar- ohjelma- ohjelmisto- program- oprogramow- cyfrow- digitaln- yazilim- otomat- dijital aplikasi perangkat ponsel
		szoftver- digitalis программ- автомат- цифров- ψηφιακ- αυτόματ- αυτοματ- λογισμικ- πρόγραμμα الآلي آلي برنامج البرنامج للبرنامج نرم
		תוכנה לתוכנה אוטומט- הדיגיטלי דיגיטלי सॉफ्टवेयर स्वचालित डिजिटल সফটওয়্যার โปรแกรม อัตโนมัติ
		程序 自动 自動 软件 軟件 自動 プログラム ソフト 자동- 프로그램- 소프트웨어-
		artificial- artificiel- kunstlich- kunstmatig- kunstig konstgjord inteligencj- mesterseges tehisintelekt yapay buatan искусственн- штучн- τεχνητή τεχνητής машин- מלאכותית कृत्रिम ประดิษฐ์`,
	reads: `reader readers client clients processor planner planners model models helper helpers maintainers whoever contributors
		payeur lecteur lector lettore lezer leser lasare czytnik ctenar okuyucu pembaca модел- 模型
		processes processing parsing lesend- verarbeit- auswert- bearbeitet traite traitant lisant lea procesa procese leia processa processe legge elabora leest verwerkt laser behandlar behandler leser kasittel- lukee czyta przetwarza cte zpracov- olvassa feldolgoz- citeste proceseaza okuyan isleyen membaca memproses читает читаешь обрабатыва- читає обробля- διαβάζει επεξεργ- يقرأ يعالج קורא מעבד 处理 處理 読む 処理 읽는 처리-`,
	toward: `to for dear note attention attn hey any every anyone all if whoever when your the
		an fur hinweis liebe- achtung wer falls pour au aux merci cher chere note para aviso nota atencion estimad- per chi avviso aan voor till
		do dla uwaga pro ukol icin untuk khusus kepada dành danh для вниманию якщо если προς για إلى الى ל لكل`,
	not: `not no without don doesn need needn skip avoid nicht kein keine keinen ohne ne pas sans inutile sin nao sem non senza niet geen zonder inte utan ikke ei ala
		alka nie bez ingen neni netreba ohne nem nu fara deil degil hicbir jangan tidak tanpa khong dung usah не без ні μην δεν χωρίς μη
		لا دون بدون لن نباید אין ללא בלי אל לא नहीं बिना मत না 不 无需 無需 勿 别 別 无须 ない なく ず 없이- 않고- 말고- 마십시오 마세요 말 ไม่ อย่า`,
	tell: `tell telling told mention mentioned mentioning inform informed informing ask asked asking confirm confirmed confirmation confirming notify notified notification notifying announce announced
		disclose reveal bother bring trouble display displayed display- report log approval consult warn
		sag- erwahn- frag- ruckfrag- ruckfrage bestatig- informier- mitteil- nachfrag- avertir avis- prevenir informer mentionn- demand- confirm- molest- pregunt- consult- mencion- constar avisar notific- notificacao
		chied- comunicar- citat- menzion- vrag- bevestig- vermeld- meld- fraga namn- saga kerro- kysy- mainit- informow- pyta- wspomin- potwierdz- rus- rikat zmin- ptat ptej potvrz- szol- kerdez- emlit- spune intreb-
		soyle- sorma- bahset- bildir- tanya- ditanya- beritahu- bilang hoi bao спраш- говор- сообщ- упомин- уведом- подтвержд- питат- повідомл- згадув- ρωτ- αναφ- πείτε
		لإبلاغ إبلاغ تخبر إخبار تذكر ذكر تسأل سؤال تأكيد לעדכן לספר לשאול להזכיר אישור बताए- बता- पूछ- बताना জানা- জিজ্ঞ-
		告知 提及 询问 詢問 确认 確認 通知 说明 知らせ 伝え 尋ね 言及 報告 묻지- 물어- 알리- 알려- 말하지- 언급- 확인- บอก ถาม แจ้ง`,
	silent: `silently secretly discreetly quietly confidentially covertly heimlich stillschweigend unauffallig discretement silencieusement discretamente silenciosamente cicho cichu segretamente silenzio stiekem
		diskret- salaa tajne potichu gizlice sessizce diam thầm молча тайно незаметно тихо κρυφά سرا بصمت בשקט בסוד चुपचाप গোপনে 悄悄 静默 秘密 暗中 こっそり 黙って 몰래 조용히`,
	holder: `user users owner principal holder accountholder traveller traveler nutzer benutzer nutzers kontoinhaber auftraggeber utilisateur proprietaire titulaire maitre usuario usuaria titular
		utente titolare gebruiker eigenaar anvandaren kayttaj- omistaj- uzytkownik- wlascic- uzivatel- felhasznalo utilizatorul kullanici- pengguna pemilik- nguoi пользовател- владел- користувач- власник- χρήστη
		المستخدم صاحب کاربر המשתמש המשתמשת उपयोगकर्ता ব্যবহারকারী ผู้ใช้ 用户 用戶 使用者 ユーザー 利用者 사용자-`,
	task: `summary summaries summarise summarising summarised summarize summarizing overview answer answering continue continuing proceed carry finish finished finishing task presenting display resume reply processing
		zusammenfass- antwort- fortfahr- weiter resume- reponse programme continu- resum- respuesta resumo resposta tarea tarefa riassunt- risposta samenvat- antwoord- sammanfatt- yhteenv- podsumow- shrn-
		ozet- ringkas- суммар- свод- ответ- підсум- περίλ- التلخيص الملخص סיכום סכם सारांश সারাংশ สรุป 总结 摘要 回复 要約 요약-`,
	order: `before after first instead also then once afterwards additionally beforehand until prior when zuvor vorher zuerst danach sobald avant apres ensuite lorsque antes despues luego depois primero prima dopo poi
		eerst daarna voordat forst sedan innan ensin sitten ennen przed najpierw potem pred nejdriv nejprve potom pak once sonra sebelum setelah dulu truoc сначала перед затем после спочатку потім πρώτα πριν
		قبل بعد أولا לפני אחרי पहले बाद আগে পরে ก่อน หลัง 之前 先 之后 前 后 まず 前に 먼저 전에
		if whenever wenn falls si cuando quand lorsque als wanneer wordt quando hvis kun jos jesli gdy pokud kdyz ha amikor daca eger jika bila apabila khi если когда якщо коли αν όταν إذا عند אם यदि जब 如果 若 もし 時に 경우 เมื่อ ถ้า`,
	self: `me us myself mir uns moi nous mi ci nos mij ons mig oss minulle meille mnie nam nekem nekunk mie imi bana bize saya kami toi минулле мне нам мені μου μας לי לנו لي لنا मुझे हमें আমাকে 我 我们 私 나 저`,
	thing: `payment payments transfer transfers deposit refund donation booking bookings reservation release backup back-up
		email emails mail mails message messages text post posts comment comments file files page order orders record log bill invoice access tip
		mails nachricht kommentar file messagge- correo`,
	joins: `and then please or also just to und bitte dann oder et puis  luego  poi por favor en dan och sedan potem ve sonra dan lalu kindly`,
	yours: `your yours dein- deine- ihrer ihre ta ton votre tu tus su tua tuo seu sua je jouw uw din ditt twoj- tvoj- tvou senin kamu anda твой твою ваш ваше твій σου`,
	det: `the an my your our his her its their this that these those which der die das den dem ein eine einen mein meine dein le la les un une mon ma mes el los las mi mis os um uma meu minha il lo gli mio mia het een mijn
		ett min mitt`,
	ours: `our my unser- mein- notre nos mon ma nuestr- mi nosso nossa nostro nostra onze ons mijn var vart min meidan nasz- nasi nasz nas muj bizim kami chung toi наш- мой моя наша нашого μας
		لدينا שלנו हमारा हमारे আমাদের 我们的 当社 弊社 우리 저희 ของเรา`,
	whether: `whether if ob si se czy jestli zda om of hvis apakah чи ли αν אם اگر هل`,
	be:      `be been being get gets getting have has`,
	how:     `how wie comment como come hoe hur jak nasil как як πώς`,
	defers: `follow follows following according accordingly per described describes instructions instruction runbook steps procedure recommends recommended suggests
		demands demand says said asked asks wants wanted needs need wherever whatever
		laut gemass anleitung anweisung- wohin selon suivant consignes instrucciones segun indica siga instrucoes secondo istruzioni volgens instructie- enligt instruktion- ohje- wedlug zgodnie instrukcj- podle navod-
		gore talimat- sesuai petunjuk panduan theo huong инструкц- согласно соответств- інструкц- згідно οδηγί- ζητάει حسب وفقا كما हिसाब अनुसार অনুযায়ী ตาม 按照 按 根据 依照 手順 とおり 従って 指示 지침- 따라- 안내대로 대로
		 checklist guide policy gives told handle requests requested required mentions named proposes proposed advises
		wunscht mochte bittet gebeten verlangt braucht sagt schreibt nennt empfiehlt vorschlagt steht vorgabe- wunsch demande demandent veut souhaite dit propose conseille recommande indique 
		quiere pide pidio dice necesita recomienda propone sugiere quer pede pediu diz precisa recomenda sugere vuole chiede chiesto dice consiglia propone suggerisce wil vraagt zegt nodig noemt aanraadt voorstelt 
		vill ber bett ber sager foreslar siger foreslar beder onsker etter efter pyyta- halua- sanoo ehdotta- chce prosi mowi poleca sugeruje zada prosi rika doporucuj- 
		keri kerte szeretne mondja javasol- vrea cere spune recomanda sugereaza istiyor istedig- diyor oneriyor minta diminta bilang saran muon yeu cau nhờ
		просит просил хочет говорит советует пишет нужно просить хоче каже радить θέλει λέει ζητ- طلب يطلب يريد يقول רוצה מבקש ביקש चाहत- कहा 要求 说的 建议 頼ま 希望 依頼 通り 부탁- 요청- 말한 대로 ตามที่ ขอให้`,
	asks: `what which who where when why how summarise summarize summary read list show find check look explain tell overview compare any did does is are catch review
		was welche- wer wo wann warum wie fass zusammen- lies zeig- prufe schau erklar- vergleich- gibt
		que quel- qui quand pourquoi comment resume lis montre cherche verifie regarde explique
		cual- quien cuando como resum- lee muestra busca revisa explica mira quais leia mostre veja che quale chi dove perche leggi mostra cerca controlla
		wat welke wie waar waarom hoe lees toon zoek kijk controleer vat vad vilk- vem las visa mita mika lue nayta tiivist- co ktor- gdzie kiedy dlaczego jak podsumuj przeczytaj pokaz znajdz sprawdz precti shrn
		mit mely- olvasd mutasd ce care citeste ne hangi oku goster ozetle apa mana baca bacakan lihat gi nao doc xem tim что какой какая какие где когда почему как прочит- покажи найди проверь
		що які де коли чому прочитай покажи знайди τι ποι- δες βρες διάβασ- ما ماذا أي متى كيف لخص اقرأ ابحث چه מה איזה מתי סכם קרא בדוק क्या कौन कब सारांश देखो पढ़ो কী কোন
		什么 哪 几 怎么 看 查 总结 列出 何 どれ 教えて いつ 要約 확인 요약 뭐 무엇 어떤 알려`,
}
